// bias_grad: the gradients of weight and bias in one op, since both read the gradient behind the
// layer.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "graph/passes/fusion.h"
#include "graph/passes/rewrite.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

// Sums dz over all but the channels: the gradient of a bias.
bool sums_for_bias(const Graph& graph, const Op& op) {
  if (op.kind == OpKind::BiasGrad) return true;
  return op.kind == OpKind::ReduceSum && std::get<ReduceAttrs>(op.attrs).axis == 0 &&
         graph.type(op.inputs[0]).shape.rank() == 2;
}

// A weight gradient that reads dz as the op with the sums would: MatMul(x transposed, dz), or
// Conv2dWeightGrad(x, dz).
bool is_weight_gradient(const Op& op, OpKind sums, ValueId dz) {
  if (op.inputs.size() != 2 || op.inputs[1] != dz) return false;
  if (sums == OpKind::BiasGrad) return op.kind == OpKind::Conv2dWeightGrad;
  if (op.kind != OpKind::MatMul) return false;
  const auto& attrs = std::get<MatMulAttrs>(op.attrs);
  return attrs.transpose_a && !attrs.transpose_b;
}

std::string fuse(Rewrite& rewrite, std::size_t bias) {
  const Op& sums = rewrite.op(bias);
  const ValueId dz = sums.inputs[0];
  const std::vector<std::size_t>& readers = rewrite.uses().readers(dz);
  const auto found = std::find_if(readers.begin(), readers.end(), [&](std::size_t reader) {
    return !rewrite.gone(reader) && is_weight_gradient(rewrite.op(reader), sums.kind, dz);
  });
  if (found == readers.end()) {
    return fmt::format("no weight gradient reads {} as {}", rewrite.graph().label(dz),
                       sums.kind == OpKind::BiasGrad ? "Conv2dWeightGrad(x, dy) does"
                                                     : "MatMul(x transposed, dz) does");
  }
  const Op& product = rewrite.op(*found);
  const std::vector<std::size_t> both = {std::min(bias, *found), std::max(bias, *found)};
  const OpKind kind =
      product.kind == OpKind::MatMul ? OpKind::MatMulBiasGrad : OpKind::Conv2dWeightBiasGrad;
  return rewrite.replace(both, {kind,
                                product.attrs,
                                product.inputs,
                                {product.outputs[0], sums.outputs[0]},
                                rewrite.phases(both)});
}

}  // namespace

PassResult fuse_bias_grad(const Graph& graph) {
  Rewrite rewrite(graph);
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    if (!sums_for_bias(graph, op)) continue;
    const std::string reason = fuse(rewrite, i);
    if (reason.empty()) continue;
    rewrite.note(fmt::format("{} {} stays: {}", name(op.kind), graph.label(op.outputs[0]), reason));
  }
  return rewrite.finish("no gradient of a bias");
}

}  // namespace stepscope
