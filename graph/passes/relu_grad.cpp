// relu_grad: the gradient of relu goes into the product, convolution or pooling gradient in front
// of it.
//
// Behind a max-pool the gate may be read from the pooled value instead of the relu's output. With
// r the relu's output and p the pool of r, the gradient at element i of r is the sum of dp over the
// windows that i won, and ReluGrad makes it zero where r[i] <= 0. The winner of a window is an
// element of r (padding never wins) and the pooled value is that element, bit for bit, NaN
// included; so the windows that i won are all open or all closed, as i is. Elements that won
// nothing are zero either way. Closing dp window by window, p[window] <= 0, is therefore the same
// gradient, and r need not live until then.
// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "graph/passes/fusion.h"
#include "graph/passes/rewrite.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

// What makes the fused op of `grad` (the op in front) and a ReluGrad that reads `gate`.
struct Fused {
  OpKind kind{};
  ValueId gate;
};

std::optional<Fused> fused_pool(const Rewrite& rewrite, const Op& grad, ValueId gate,
                                std::string& reason) {
  const Graph& graph = rewrite.graph();
  const std::optional<std::size_t> pool = rewrite.uses().maker(grad.inputs[1]);
  if (!pool || rewrite.op(*pool).kind != OpKind::MaxPool) {
    reason =
        fmt::format("no MaxPool made {}, so there is no pooled value", graph.label(grad.inputs[1]));
    return std::nullopt;
  }
  const Op& op = rewrite.op(*pool);
  if (op.inputs[0] != gate) {
    reason = fmt::format("the pool took {}, not {}", graph.label(op.inputs[0]), graph.label(gate));
    return std::nullopt;
  }
  const auto& attrs = std::get<Pool2dAttrs>(op.attrs);
  if (attrs.pad_h != 0 || attrs.pad_w != 0) {
    reason = fmt::format("the pool is padded by {}x{}", attrs.pad_h, attrs.pad_w);
    return std::nullopt;
  }
  return Fused{OpKind::MaxPoolReluGrad, op.outputs[0]};
}

std::optional<Fused> fused_with(const Rewrite& rewrite, const Op& grad, ValueId gate,
                                std::string& reason) {
  switch (grad.kind) {
    case OpKind::MatMul:
      return Fused{OpKind::MatMulReluGrad, gate};
    case OpKind::Conv2dInputGrad:
      return Fused{OpKind::Conv2dInputReluGrad, gate};
    case OpKind::MaxPoolGrad:
      return fused_pool(rewrite, grad, gate, reason);
    default:
      reason = fmt::format("{} takes no gate", name(grad.kind));
      return std::nullopt;
  }
}

std::string fuse(Rewrite& rewrite, std::size_t relu) {
  const Op& op = rewrite.op(relu);
  const ValueId gradient = op.inputs[0];
  const std::optional<std::size_t> maker = rewrite.uses().maker(gradient);
  if (!maker) return fmt::format("no op makes {} itself", rewrite.graph().label(gradient));
  const Op& grad = rewrite.op(*maker);
  std::string reason;
  const std::optional<Fused> fused = fused_with(rewrite, grad, op.inputs[1], reason);
  if (!fused) return reason;
  if (reason = rewrite.uses().why_not_inside(gradient); !reason.empty()) return reason;
  std::vector<ValueId> inputs = grad.inputs;
  inputs.push_back(fused->gate);
  return rewrite.replace({*maker, relu}, {fused->kind,
                                          grad.attrs,
                                          std::move(inputs),
                                          {op.outputs[0]},
                                          rewrite.phases({*maker, relu})});
}

}  // namespace

PassResult fuse_relu_grad(const Graph& graph) {
  Rewrite rewrite(graph);
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    if (graph.ops()[i].kind != OpKind::ReluGrad) continue;
    const std::string reason = fuse(rewrite, i);
    if (reason.empty()) continue;
    rewrite.note(
        fmt::format("ReluGrad {} stays: {}", graph.label(graph.ops()[i].outputs[0]), reason));
  }
  return rewrite.finish("no gradient of relu");
}

}  // namespace stepscope
