// Errors of all values, and which rule goes for which op.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/error_bound.h"

#include "ops/base/check.h"
#include "ops/ir/op_def.h"
#include "tests/backends/random/error_rules.h"

namespace stepscope::test {
namespace {

void apply_rule(const rules::Call& call) {
  switch (call.op.kind) {
    case OpKind::MatMul:
      return rules::matmul(call);
    case OpKind::AddBias:
      return rules::add_bias(call);
    case OpKind::Add:
    case OpKind::Sub:
      return rules::add(call);
    case OpKind::Mul:
      return rules::mul(call);
    case OpKind::Scale:
      return rules::scale(call);
    case OpKind::Fill:
      return rules::fill(call);
    case OpKind::Relu:
      return rules::relu(call);
    case OpKind::ReluGrad:
      return rules::relu_grad(call);
    case OpKind::Tanh:
      return rules::tanh(call);
    case OpKind::TanhGrad:
      return rules::tanh_grad(call);
    case OpKind::Sigmoid:
      return rules::sigmoid(call);
    case OpKind::SigmoidGrad:
      return rules::sigmoid_grad(call);
    case OpKind::ReduceSum:
      return rules::reduce_sum(call);
    case OpKind::Broadcast:
      return rules::broadcast(call);
    case OpKind::SoftmaxCrossEntropy:
      return rules::softmax_cross_entropy(call);
    case OpKind::SoftmaxCrossEntropyGrad:
      return rules::softmax_cross_entropy_grad(call);
    case OpKind::Argmax:
    case OpKind::CorrectCount:
      return rules::first_largest(call);
    case OpKind::SgdUpdate:
      return rules::sgd(call);
    case OpKind::MomentumUpdate:
      return rules::momentum(call);
    case OpKind::AdamUpdate:
      return rules::adam(call);
    default:
      fail(Fault::unsupported, "error bound: no rule for {}", name(call.op.kind));
  }
}

}  // namespace

ErrorBound::ErrorBound(const Oracle& oracle)
    : oracle_(oracle), errors_(oracle.graph().values().size()) {
  for (const ValueId id : oracle.graph().ids()) {
    if (oracle.graph().value(id).sharing == Sharing::view) continue;
    errors_[static_cast<std::size_t>(id.index)].resize(oracle.elements(id).size());
  }
}

std::span<const double> ErrorBound::errors(ValueId id) const {
  return errors_[static_cast<std::size_t>(oracle_.graph().source(id).index)];
}

void ErrorBound::follow(const Op& op) {
  rules::Call call{op, {}, {}, ambiguous_};
  for (const ValueId id : op.inputs) {
    call.in.push_back(
        {oracle_.elements(id), errors(id), oracle_.integers(id), oracle_.graph().type(id)});
  }
  for (const ValueId id : op.outputs) {
    call.out.push_back({oracle_.elements(id), errors_[static_cast<std::size_t>(id.index)],
                        oracle_.graph().type(id)});
  }
  apply_rule(call);
}

void ErrorBound::finish_step() {
  const Graph& graph = oracle_.graph();
  for (const Op& op : graph.ops()) {
    for (const ValueId id : op.outputs) {
      if (graph.value(id).sharing != Sharing::overwrite) continue;
      errors_[static_cast<std::size_t>(graph.storage(id).index)] =
          errors_[static_cast<std::size_t>(id.index)];
    }
  }
}

}  // namespace stepscope::test
