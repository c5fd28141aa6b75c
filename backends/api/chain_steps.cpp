// Attributes of a chain, read.
// SPDX-License-Identifier: Apache-2.0
#include "backends/api/chain_steps.h"

#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

static_assert(kMaxSteps == static_cast<int>(kMaxChainSteps));

Loop loop_of(OpKind kind, std::string_view backend) {
  switch (kind) {
    case OpKind::Relu:
      return Loop::relu;
    case OpKind::Tanh:
      return Loop::tanh;
    case OpKind::Sigmoid:
      return Loop::sigmoid;
    case OpKind::Scale:
      return Loop::scale;
    case OpKind::Add:
      return Loop::add;
    case OpKind::Sub:
      return Loop::sub;
    case OpKind::Mul:
      return Loop::mul;
    case OpKind::ReluGrad:
      return Loop::relu_grad;
    case OpKind::TanhGrad:
      return Loop::tanh_grad;
    case OpKind::SigmoidGrad:
      return Loop::sigmoid_grad;
    default:
      fail(Fault::unsupported, "{}: PointwiseChain with a step of {}", backend, name(kind));
  }
}

LoopOperands operands_of(ChainOperands operands, std::string_view backend) {
  switch (operands) {
    case ChainOperands::current:
      return LoopOperands::current;
    case ChainOperands::current_first:
      return LoopOperands::current_first;
    case ChainOperands::current_second:
      return LoopOperands::current_second;
    case ChainOperands::both:
      return LoopOperands::both;
  }
  fail(Fault::unsupported, "{}: PointwiseChain with operands of kind {}", backend,
       static_cast<int>(operands));
}

}  // namespace

void loop_steps_of(const ChainAttrs& attrs, std::string_view backend,
                   LoopStep (&steps)[kMaxSteps]) {
  for (int s = 0; s < static_cast<int>(attrs.count); ++s) {
    const ChainStep& step = attrs.steps[static_cast<std::size_t>(s)];
    steps[s] = {loop_of(step.kind, backend), operands_of(step.operands, backend),
                static_cast<float>(step.factor)};
  }
}

}  // namespace stepscope
