// One op after the other, through the kernels of the reference backend.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/oracle.h"

#include "backends/reference/reference.h"
#include "ops/ir/op_def.h"

namespace stepscope::test {
namespace {

DType wide(DType dtype) { return dtype == DType::f32 ? DType::f64 : dtype; }

TensorType wide(const TensorType& type) { return {type.shape, wide(type.dtype)}; }

OpSite wide_site(const Graph& graph, const Op& op) {
  OpSite site{op.kind, op.attrs, {}, {}};
  if (auto* fill = std::get_if<FillAttrs>(&site.attrs)) fill->type = wide(fill->type);
  if (auto* cast = std::get_if<CastAttrs>(&site.attrs)) cast->to = wide(cast->to);
  for (const ValueId id : op.inputs) site.in.push_back(wide(graph.type(id)));
  for (const ValueId id : op.outputs) site.out.push_back(wide(graph.type(id)));
  return site;
}

}  // namespace

std::byte* Oracle::Content::data() {
  if (!elements.empty()) return reinterpret_cast<std::byte*>(elements.data());
  return integers.empty() ? bytes.data() : reinterpret_cast<std::byte*>(integers.data());
}

Oracle::Oracle(const Graph& graph)
    : graph_(graph),
      backend_(reference::make_backend({})),
      stream_(backend_->make_stream()),
      contents_(graph.values().size()) {
  for (const Op& op : graph.ops()) kernels_.push_back(backend_->lower(wide_site(graph, op)));
  for (const ValueId id : graph.ids()) {
    if (graph.value(id).sharing == Sharing::view) continue;
    make_room(id);
  }
}

void Oracle::make_room(ValueId id) {
  const Value& value = graph_.value(id);
  const auto count = static_cast<std::size_t>(value.type.shape.elements());
  if (value.role == Role::saved) {
    // What the reference saves are numbers of type i32.
    const std::size_t bytes = kernels_[static_cast<std::size_t>(value.producer)]->needs().saved;
    content(id).integers.resize(bytes / sizeof(std::int32_t));
  } else if (value.type.dtype == DType::i32) {
    content(id).integers.resize(count);
  } else if (value.type.dtype == DType::u8) {
    content(id).bytes.resize(count);
  } else {
    content(id).elements.resize(count);
  }
}

void Oracle::write(ValueId declared, std::span<const double> elements) {
  Content& to = content(declared);
  if (to.integers.empty()) {
    to.elements.assign(elements.begin(), elements.end());
  } else {
    to.integers.assign(elements.begin(), elements.end());
  }
}

void Oracle::step(const std::function<void(const Op&)>& after) {
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const Op& op = graph_.ops()[i];
    std::vector<std::byte*> operands;
    for (const ValueId id : op.inputs) operands.push_back(content(id).data());
    for (std::size_t k = 0; k < op.outputs.size(); ++k) {
      const ValueId id = op.outputs[k];
      if (graph_.value(id).sharing == Sharing::overwrite) {
        // An update reads the parameter through its output: it gets a copy of the old content.
        const int old = overwritten_input(op.kind, op.attrs, op.inputs.size(), k);
        content(id) = content(op.inputs[static_cast<std::size_t>(old)]);
      }
      operands.push_back(content(id).data());
    }
    stream_->submit(kernels_[i]->bind(operands.data(), nullptr), static_cast<std::uint32_t>(i));
    after(op);
  }
}

void Oracle::finish_step() {
  for (const Op& op : graph_.ops()) {
    for (const ValueId id : op.outputs) {
      if (graph_.value(id).sharing == Sharing::overwrite) {
        content(graph_.storage(id)) = content(id);
      }
    }
  }
}

std::span<const double> Oracle::elements(ValueId id) const { return content(id).elements; }

std::span<const std::int32_t> Oracle::integers(ValueId id) const { return content(id).integers; }

std::vector<double> Oracle::as_doubles(ValueId id) const {
  const Content& from = content(id);
  if (!from.elements.empty()) return from.elements;
  std::vector<double> numbers(from.integers.begin(), from.integers.end());
  for (const std::byte each : from.bytes) numbers.push_back(std::to_integer<int>(each));
  return numbers;
}

}  // namespace stepscope::test
