// epilogue: a product or convolution takes the bias that follows it, and the activation after that.
// The gradients of relu, tanh and sigmoid read the output, so the value in front of the activation
// need not exist.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>

#include "graph/passes/fusion.h"
#include "graph/passes/rewrite.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

Activation activation_of(OpKind kind) {
  switch (kind) {
    case OpKind::Relu:
      return Activation::relu;
    case OpKind::Tanh:
      return Activation::tanh;
    case OpKind::Sigmoid:
      return Activation::sigmoid;
    default:
      return Activation::none;
  }
}

Attrs with_activation(Attrs attrs, Activation activation) {
  if (auto* product = std::get_if<MatMulAttrs>(&attrs)) product->activation = activation;
  if (auto* convolution = std::get_if<Conv2dAttrs>(&attrs)) convolution->activation = activation;
  return attrs;
}

// The activation that alone reads the output of op `bias`; none otherwise.
std::optional<std::size_t> activation_behind(const Rewrite& rewrite, std::size_t bias) {
  const ValueId sum = rewrite.op(bias).outputs[0];
  for (const std::size_t reader : rewrite.uses().readers(sum)) {
    const Op& op = rewrite.op(reader);
    if (activation_of(op.kind) != Activation::none && op.inputs[0] == sum) return reader;
  }
  return std::nullopt;
}

std::string fuse(Rewrite& rewrite, const std::vector<std::size_t>& ops) {
  const Op& product = rewrite.op(ops[0]);
  const Op& last = rewrite.op(ops.back());
  const OpKind kind = product.kind == OpKind::MatMul ? OpKind::Linear : OpKind::Conv2dBias;
  return rewrite.replace(ops, {kind,
                               with_activation(product.attrs, activation_of(last.kind)),
                               {product.inputs[0], product.inputs[1], rewrite.op(ops[1]).inputs[1]},
                               {last.outputs[0]},
                               rewrite.phases(ops)});
}

void fuse_behind(Rewrite& rewrite, std::size_t bias) {
  const Graph& graph = rewrite.graph();
  const ValueId product = rewrite.op(bias).inputs[0];
  const std::optional<std::size_t> maker = rewrite.uses().maker(product);
  if (!maker) return;
  const OpKind kind = rewrite.op(*maker).kind;
  if (kind != OpKind::MatMul && kind != OpKind::Conv2d) return;
  const ValueId sum = rewrite.op(bias).outputs[0];
  std::string reason = rewrite.uses().why_not_inside(product);
  if (reason.empty()) {
    const std::optional<std::size_t> activation = activation_behind(rewrite, bias);
    if (activation) {
      reason = rewrite.uses().why_not_inside(sum);
      if (reason.empty()) reason = fuse(rewrite, {*maker, bias, *activation});
      if (reason.empty()) return;
      rewrite.note(fmt::format("{} {} stays: {}", name(rewrite.op(*activation).kind),
                               graph.label(rewrite.op(*activation).outputs[0]), reason));
    }
    reason = fuse(rewrite, {*maker, bias});
    if (reason.empty()) return;
  }
  rewrite.note(fmt::format("AddBias {} stays: {}", graph.label(sum), reason));
}

}  // namespace

PassResult fuse_epilogue(const Graph& graph) {
  Rewrite rewrite(graph);
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    if (graph.ops()[i].kind == OpKind::AddBias) fuse_behind(rewrite, i);
  }
  return rewrite.finish("no product or convolution with a bias");
}

}  // namespace stepscope
