// One op after the other, through the kernels of the reference backend.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/oracle.h"

#include "backends/reference/reference.h"
#include "ops/ir/op_def.h"

namespace stepscope::test {
namespace {

TensorType wide(const TensorType& type) {
  return {type.shape, type.dtype == DType::f32 ? DType::f64 : type.dtype};
}

OpSite wide_site(const Graph& graph, const Op& op) {
  OpSite site{op.kind, op.attrs, {}, {}};
  if (auto* fill = std::get_if<FillAttrs>(&site.attrs)) fill->type = wide(fill->type);
  for (const ValueId id : op.inputs) site.in.push_back(wide(graph.type(id)));
  for (const ValueId id : op.outputs) site.out.push_back(wide(graph.type(id)));
  return site;
}

}  // namespace

std::byte* Oracle::Content::data() {
  return integers.empty() ? reinterpret_cast<std::byte*>(elements.data())
                          : reinterpret_cast<std::byte*>(integers.data());
}

Oracle::Oracle(const Graph& graph)
    : graph_(graph),
      backend_(reference::make_backend({})),
      stream_(backend_->make_stream()),
      contents_(graph.values().size()) {
  for (const Op& op : graph.ops()) kernels_.push_back(backend_->lower(wide_site(graph, op)));
  for (const ValueId id : graph.ids()) {
    if (graph.value(id).sharing == Sharing::view) continue;
    const auto count = static_cast<std::size_t>(graph.type(id).shape.elements());
    if (graph.type(id).dtype == DType::i32) {
      content(id).integers.resize(count);
    } else {
      content(id).elements.resize(count);
    }
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
        const auto old = static_cast<std::size_t>(op_def(op.kind).overwrites[k]);
        content(id) = content(op.inputs[old]);
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
  if (from.integers.empty()) return from.elements;
  return {from.integers.begin(), from.integers.end()};
}

}  // namespace stepscope::test
