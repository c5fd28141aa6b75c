// Errors of all values, and which rule goes for which op.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/error_bound.h"

#include <algorithm>
#include <array>

#include "ops/base/check.h"
#include "ops/ir/op_def.h"
#include "tests/backends/random/error_rules.h"

namespace stepscope::test {
namespace {

struct RuleOf {
  OpKind kind;
  void (*rule)(const rules::Call&);
};

constexpr std::array kRules = {
    RuleOf{OpKind::MatMul, rules::product},
    RuleOf{OpKind::Conv2d, rules::product},
    RuleOf{OpKind::Conv2dInputGrad, rules::product},
    RuleOf{OpKind::Conv2dWeightGrad, rules::product},
    RuleOf{OpKind::ReduceSum, rules::sum},
    RuleOf{OpKind::BiasGrad, rules::sum},
    RuleOf{OpKind::ScatterAdd, rules::sum},
    RuleOf{OpKind::MaxPoolGrad, rules::sum},
    RuleOf{OpKind::AvgPool, rules::mean},
    RuleOf{OpKind::AvgPoolGrad, rules::mean},
    RuleOf{OpKind::Gather, rules::gather},
    RuleOf{OpKind::Broadcast, rules::broadcast},
    RuleOf{OpKind::AddBias, rules::add_bias},
    RuleOf{OpKind::Add, rules::add},
    RuleOf{OpKind::Sub, rules::add},
    RuleOf{OpKind::Mul, rules::mul},
    RuleOf{OpKind::Scale, rules::scale},
    RuleOf{OpKind::Fill, rules::fill},
    RuleOf{OpKind::Relu, rules::relu},
    RuleOf{OpKind::ReluGrad, rules::relu_grad},
    RuleOf{OpKind::Tanh, rules::tanh},
    RuleOf{OpKind::TanhGrad, rules::tanh_grad},
    RuleOf{OpKind::Sigmoid, rules::sigmoid},
    RuleOf{OpKind::SigmoidGrad, rules::sigmoid_grad},
    RuleOf{OpKind::MaxPool, rules::max_pool},
    RuleOf{OpKind::Cast, rules::cast},
    RuleOf{OpKind::Reorder, rules::reorder},
    RuleOf{OpKind::SoftmaxCrossEntropy, rules::softmax_cross_entropy},
    RuleOf{OpKind::SoftmaxCrossEntropyGrad, rules::softmax_cross_entropy_grad},
    RuleOf{OpKind::Argmax, rules::first_largest},
    RuleOf{OpKind::CorrectCount, rules::first_largest},
    RuleOf{OpKind::Linear, rules::product_with_bias},
    RuleOf{OpKind::Conv2dBias, rules::product_with_bias},
    RuleOf{OpKind::MatMulReluGrad, rules::gated_product},
    RuleOf{OpKind::Conv2dInputReluGrad, rules::gated_product},
    RuleOf{OpKind::MaxPoolReluGrad, rules::gated_max_pool_grad},
    RuleOf{OpKind::MatMulBiasGrad, rules::product_with_sums},
    RuleOf{OpKind::Conv2dWeightBiasGrad, rules::product_with_sums},
    RuleOf{OpKind::MatMulUpdate, rules::product_update},
    RuleOf{OpKind::Conv2dWeightUpdate, rules::product_update},
    RuleOf{OpKind::SoftmaxCrossEntropyWithGrad, rules::loss_with_grad},
    RuleOf{OpKind::PointwiseChain, rules::pointwise_chain},
    RuleOf{OpKind::SgdUpdate, rules::sgd},
    RuleOf{OpKind::MomentumUpdate, rules::momentum},
    RuleOf{OpKind::AdamUpdate, rules::adam},
    RuleOf{OpKind::ScheduledRate, rules::scheduled_rate},
};

}  // namespace

void rules::apply(const Call& call) {
  const auto* const found = std::ranges::find(kRules, call.op.kind, &RuleOf::kind);
  check(found != kRules.end(), Fault::unsupported, "error bound: no rule for {}",
        name(call.op.kind));
  found->rule(call);
}

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
                        oracle_.graph().type(id), oracle_.integers(id)});
  }
  rules::apply(call);
  for (const rules::Output& out : call.out) {
    // Without a bound there is nothing to say, either; nor where f32 may overflow.
    const auto says_nothing = [](double error) { return !(error < 1e30); };
    if (std::ranges::any_of(out.error, says_nothing)) ambiguous_ = true;
  }
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
