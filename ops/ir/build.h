// Short names for appending common ops: what models, gradient rules and tests write.
// Nothing here is needed for an op to work; an op without a line here is used through apply().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "ops/ir/graph.h"

namespace stepscope::build {

// {M, K} x {K, N} -> {M, N}; a transposed operand has its two dimensions swapped.
inline ValueId matmul(Graph& graph, ValueId a, ValueId b, MatMulAttrs attrs = {}) {
  return graph.apply1(OpKind::MatMul, {a, b}, attrs);
}
// {N, C, ...} + {C} -> {N, C, ...}
inline ValueId add_bias(Graph& graph, ValueId x, ValueId bias) {
  return graph.apply1(OpKind::AddBias, {x, bias});
}
inline ValueId add(Graph& graph, ValueId a, ValueId b) { return graph.apply1(OpKind::Add, {a, b}); }
inline ValueId sub(Graph& graph, ValueId a, ValueId b) { return graph.apply1(OpKind::Sub, {a, b}); }
inline ValueId mul(Graph& graph, ValueId a, ValueId b) { return graph.apply1(OpKind::Mul, {a, b}); }
inline ValueId scale(Graph& graph, ValueId x, double factor) {
  return graph.apply1(OpKind::Scale, {x}, ScaleAttrs{factor});
}
inline ValueId fill(Graph& graph, const TensorType& type, double value) {
  return graph.apply1(OpKind::Fill, {}, FillAttrs{type, value});
}
inline ValueId relu(Graph& graph, ValueId x) { return graph.apply1(OpKind::Relu, {x}); }
inline ValueId tanh(Graph& graph, ValueId x) { return graph.apply1(OpKind::Tanh, {x}); }
inline ValueId sigmoid(Graph& graph, ValueId x) { return graph.apply1(OpKind::Sigmoid, {x}); }
// Removes `axis` by summing along it.
inline ValueId reduce_sum(Graph& graph, ValueId x, std::int64_t axis) {
  return graph.apply1(OpKind::ReduceSum, {x}, ReduceAttrs{axis});
}
// Inserts `axis` of `size` and repeats along it.
inline ValueId broadcast(Graph& graph, ValueId x, std::int64_t axis, std::int64_t size) {
  return graph.apply1(OpKind::Broadcast, {x}, BroadcastAttrs{axis, size});
}

struct LossAndProbabilities {
  ValueId loss;           // {} mean over the rows
  ValueId probabilities;  // {N, C}
};
// logits {N, C}, labels i32{N} in [0, C)
inline LossAndProbabilities softmax_cross_entropy(Graph& graph, ValueId logits, ValueId labels) {
  const auto out = graph.apply(OpKind::SoftmaxCrossEntropy, {logits, labels});
  return {out[0], out[1]};
}
// Rows whose first largest logit is their label: i32{}
inline ValueId correct_count(Graph& graph, ValueId logits, ValueId labels) {
  return graph.apply1(OpKind::CorrectCount, {logits, labels});
}

}  // namespace stepscope::build
