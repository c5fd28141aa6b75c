// Graph copies: values are mapped as they are met, so the copy holds only what its ops use.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/copy.h"

#include "ops/base/check.h"
#include "ops/ir/op_def.h"
#include "ops/ir/verify.h"

namespace stepscope {
namespace {

std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

}  // namespace

GraphCopy::GraphCopy(const Graph& from, Graph& to, TypeMap types)
    : from_(from), to_(to), types_(std::move(types)), mapped_(from.values().size()) {
  for (const ValueId id : from.ids()) {
    const Value& value = from.value(id);
    if (value.sharing != Sharing::own || value.producer >= 0) continue;
    map(id, to.declare(value.role, types_ ? types_(value.type) : value.type, value.name));
  }
}

void GraphCopy::copy(std::size_t index) {
  const Op& op = from_.ops()[index];
  std::vector<ValueId> inputs;
  for (const ValueId id : op.inputs) inputs.push_back((*this)(id));
  Attrs attrs = op.attrs;
  if (auto* fill = std::get_if<FillAttrs>(&attrs); fill != nullptr && types_) {
    fill->type = types_(fill->type);
  }
  if (auto* cast = std::get_if<CastAttrs>(&attrs); cast != nullptr && types_) {
    cast->to = types_({Shape{}, cast->to}).dtype;
  }
  const PhaseSet before = to_.phases();
  to_.enter(op.phases);
  const std::vector<ValueId> outputs = to_.apply(op.kind, std::move(inputs), std::move(attrs));
  to_.enter(before);
  for (std::size_t i = 0; i < outputs.size(); ++i) map(op.outputs[i], outputs[i]);
}

void GraphCopy::map(ValueId from_value, ValueId to_value) {
  mapped_[at(from_value)] = to_value;
  carry_marks(from_value, to_value);
}

void GraphCopy::carry_marks(ValueId from_value, ValueId to_value) {
  const Value& value = from_.value(from_value);
  const Value& target = to_.value(to_value);
  const bool is_declared = target.producer < 0 && target.sharing == Sharing::own;
  // A name that values are found by goes before one for people; of those the first stays.
  const bool takes = value.kept ? !target.kept : target.name.empty();
  if (!value.name.empty() && !is_declared && takes && !to_.find(value.name)) {
    to_.rename(to_value, value.name);
  }
  if (value.kept) to_.keep(to_value, value.name);
}

bool GraphCopy::has(ValueId from_value) const { return mapped_[at(from_value)].valid(); }

ValueId GraphCopy::operator()(ValueId from_value) {
  const Value& value = from_.value(from_value);
  if (!has(from_value) && value.sharing == Sharing::view) {
    map(from_value, to_.reshape((*this)(from_.source(from_value)), value.type.shape));
  }
  check(has(from_value), Fault::bad_graph, "copy: {} is used before it was copied",
        from_.label(from_value));
  return mapped_[at(from_value)];
}

void GraphCopy::finish() {
  for (const ValueId id : from_.ids()) {
    if (from_.value(id).kept) (void)(*this)(id);
  }
}

Graph reordered(const Graph& graph, std::span<const std::size_t> order) {
  check(order.size() == graph.ops().size(), Fault::bad_graph, "reordered: {} ops, {} in the order",
        graph.ops().size(), order.size());
  Graph result;
  GraphCopy copy(graph, result);
  for (const std::size_t index : order) copy.copy(index);
  copy.finish();
  verify(result, "reordered");
  return result;
}

Graph with_dtype(const Graph& graph, DType dtype) {
  Graph result;
  GraphCopy copy(graph, result, [dtype](const TensorType& type) {
    return TensorType{type.shape, type.dtype == DType::f32 ? dtype : type.dtype};
  });
  for (std::size_t i = 0; i < graph.ops().size(); ++i) copy.copy(i);
  copy.finish();
  verify(result, "with_dtype");
  return result;
}

}  // namespace stepscope
