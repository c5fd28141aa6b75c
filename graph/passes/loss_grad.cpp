// loss_grad: softmax, cross-entropy and the gradient of both in one op. The probabilities need not
// exist: the gradient is written where they would have been.
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/fusion.h"
#include "graph/passes/rewrite.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

std::string fuse(Rewrite& rewrite, std::size_t gradient) {
  const Graph& graph = rewrite.graph();
  const Op& grad = rewrite.op(gradient);
  const ValueId probabilities = grad.inputs[0];
  if (grad.inputs.size() == 3) {
    return fmt::format("it is multiplied by {}", graph.label(grad.inputs[2]));
  }
  const std::optional<std::size_t> maker = rewrite.uses().maker(probabilities);
  if (!maker || rewrite.op(*maker).kind != OpKind::SoftmaxCrossEntropy) {
    return fmt::format("{} is not made by SoftmaxCrossEntropy", graph.label(probabilities));
  }
  const Op& loss = rewrite.op(*maker);
  if (grad.inputs[1] != loss.inputs[1]) {
    return fmt::format("the loss has the labels {}, the gradient {}", graph.label(loss.inputs[1]),
                       graph.label(grad.inputs[1]));
  }
  if (std::string reason = rewrite.uses().why_not_inside(probabilities); !reason.empty()) {
    return reason;
  }
  return rewrite.replace({*maker, gradient}, {OpKind::SoftmaxCrossEntropyWithGrad,
                                              {},
                                              loss.inputs,
                                              {loss.outputs[0], grad.outputs[0]},
                                              rewrite.phases({*maker, gradient})});
}

}  // namespace

PassResult fuse_loss_grad(const Graph& graph) {
  Rewrite rewrite(graph);
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    if (graph.ops()[i].kind != OpKind::SoftmaxCrossEntropyGrad) continue;
    const std::string reason = fuse(rewrite, i);
    if (reason.empty()) continue;
    rewrite.note(fmt::format("the loss gradient {} stays: {}",
                             graph.label(graph.ops()[i].outputs[0]), reason));
  }
  return rewrite.finish("no gradient of a softmax cross-entropy");
}

}  // namespace stepscope
