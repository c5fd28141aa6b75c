// Copies between the model segment and host tensors.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/tensors.h"

#include <map>

#include "ops/base/check.h"

namespace stepscope {
namespace {

Element element_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return Element::f64;
    case DType::f32:
      return Element::f32;
    case DType::bf16:
      return Element::bf16;
    case DType::f16:
      return Element::f16;
    case DType::i32:
      return Element::i32;
    case DType::u8:
      return Element::u8;
  }
  fail(Fault::unsupported, "checkpoint: element type {} cannot be kept", static_cast<int>(dtype));
}

HostTensor describe(std::string tensor_name, const TensorType& type) {
  const auto dims = type.shape.dims();
  return {.name = std::move(tensor_name),
          .element = element_of(type.dtype),
          .shape = {dims.begin(), dims.end()}};
}

}  // namespace

std::vector<HostTensor> tensors_of(Session& session) {
  std::vector<HostTensor> tensors;
  for (auto& [value_name, bytes] : session.parameters_and_states()) {
    tensors.push_back(describe(value_name, session.memory().layout().at(value_name).type));
    tensors.back().bytes = std::move(bytes);
  }
  return tensors;
}

void restore(Session& session, const std::vector<HostTensor>& tensors) {
  std::map<std::string_view, const HostTensor*> given;
  for (const HostTensor& tensor : tensors) given[tensor.name] = &tensor;
  std::size_t used = 0;
  for (const HostTensor& own : tensors_of(session)) {
    const auto found = given.find(own.name);
    check(found != given.end(), Fault::bad_input, "checkpoint: has no tensor '{}'", own.name);
    const HostTensor& tensor = *found->second;
    check(tensor.element == own.element && tensor.shape == own.shape, Fault::bad_input,
          "checkpoint: tensor '{}' is {} {}, expected {} {}", own.name, name(tensor.element),
          to_text(tensor.shape), name(own.element), to_text(own.shape));
    ++used;
  }
  check(used == tensors.size(), Fault::bad_input,
        "checkpoint: {} tensors, the model has {} parameters and states", tensors.size(), used);
  for (const HostTensor& tensor : tensors) {
    session.memory().write(session.stream(), tensor.name, tensor.bytes);
  }
  session.stream().wait();
}

}  // namespace stepscope
