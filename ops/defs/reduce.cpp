// ReduceSum and Broadcast along one axis: each is the other's gradient.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

// {..., D at axis, ...} -> {..., ...}
void infer_reduce(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("ReduceSum", in, 1);
  check_floating("ReduceSum", in[0], "x");
  const std::int64_t axis = own_attrs<ReduceAttrs>("ReduceSum", attrs).axis;
  const Shape& shape = in[0].shape;
  check(axis >= 0 && axis < static_cast<std::int64_t>(shape.rank()), Fault::bad_graph,
        "ReduceSum: axis {} is not in {} of rank {}", axis, to_string(shape), shape.rank());
  FixedList<std::int64_t, Shape::kMaxRank> dims;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (static_cast<std::int64_t>(i) != axis) dims.push_back(shape[i]);
  }
  out.push_back({Shape(std::span<const std::int64_t>(dims.data(), dims.size())), in[0].dtype});
}

void vjp_reduce(GradientRequest& request) {
  const std::int64_t axis = std::get<ReduceAttrs>(request.op.attrs).axis;
  const std::int64_t size =
      request.graph.type(request.op.inputs[0]).shape[static_cast<std::size_t>(axis)];
  request.input_grads[0] = build::broadcast(request.graph, request.output_grads[0], axis, size);
}

Work work_reduce(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {static_cast<double>(in[0].shape.elements()), bytes_moved(in, out)};
}

// {..., ...} -> {..., size at axis, ...}
void infer_broadcast(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  check_arity("Broadcast", in, 1);
  check_floating("Broadcast", in[0], "x");
  const auto [axis, size] = own_attrs<BroadcastAttrs>("Broadcast", attrs);
  const Shape& shape = in[0].shape;
  check(axis >= 0 && axis <= static_cast<std::int64_t>(shape.rank()), Fault::bad_graph,
        "Broadcast: axis {} does not fit {} of rank {}", axis, to_string(shape), shape.rank());
  check(shape.rank() < Shape::kMaxRank, Fault::bad_graph, "Broadcast: {} has rank {} already",
        to_string(shape), shape.rank());
  FixedList<std::int64_t, Shape::kMaxRank> dims;
  for (std::size_t i = 0; i <= shape.rank(); ++i) {
    if (static_cast<std::int64_t>(i) == axis) dims.push_back(size);
    if (i < shape.rank()) dims.push_back(shape[i]);
  }
  out.push_back({Shape(std::span<const std::int64_t>(dims.data(), dims.size())), in[0].dtype});
}

void vjp_broadcast(GradientRequest& request) {
  request.input_grads[0] = build::reduce_sum(request.graph, request.output_grads[0],
                                             std::get<BroadcastAttrs>(request.op.attrs).axis);
}

Work work_broadcast(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs&) {
  return {0.0, bytes_moved(in, out)};
}

}  // namespace

extern const OpDef ReduceSum = {.name = "ReduceSum",
                                .infer = infer_reduce,
                                .vjp = vjp_reduce,
                                .work = work_reduce,
                                .attrs = ReduceAttrs{}};

extern const OpDef Broadcast = {.name = "Broadcast",
                                .infer = infer_broadcast,
                                .vjp = vjp_broadcast,
                                .work = work_broadcast,
                                .attrs = BroadcastAttrs{}};

}  // namespace stepscope::defs
