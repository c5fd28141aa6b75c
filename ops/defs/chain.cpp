// PointwiseChain: several pointwise ops, one after the other on each element, in one call.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::defs {
namespace {

void check_step(std::size_t i, const ChainStep& step) {
  const int operands = chain_operands(step.kind);
  check(operands != 0, Fault::bad_graph, "PointwiseChain: {} cannot be step {}", name(step.kind),
        i);
  const bool alone = step.operands == ChainOperands::current;
  check(alone == (operands == 1), Fault::bad_graph,
        "PointwiseChain: step {}, {}, takes {} operands", i, name(step.kind), operands);
  check(step.kind == OpKind::Scale || step.factor == 0.0, Fault::bad_graph,
        "PointwiseChain: step {}, {}, has a factor", i, name(step.kind));
}

// x, others... -> the last step's result; all of one type. Each step with current_first or
// current_second takes the next of the others.
void infer(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  const auto& chain = own_attrs<ChainAttrs>("PointwiseChain", attrs);
  check(chain.count >= 1 && chain.count <= static_cast<std::int64_t>(kMaxChainSteps),
        Fault::bad_graph, "PointwiseChain: {} steps, there may be 1 to {}", chain.count,
        kMaxChainSteps);
  std::size_t inputs = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
    const ChainStep& step = chain.steps[i];
    check_step(i, step);
    const bool next = step.operands == ChainOperands::current_first ||
                      step.operands == ChainOperands::current_second;
    inputs += next ? 1 : 0;
  }
  check_arity("PointwiseChain", in, inputs);
  check_floating("PointwiseChain", in[0], "x");
  for (const TensorType& type : in) check_same_type("PointwiseChain", in[0], type);
  out.push_back(in[0]);
}

// The arithmetic of the steps, and each operand moved once: what the chain is for.
Work work(std::span<const TensorType> in, std::span<const TensorType> out, const Attrs& attrs) {
  const auto& chain = std::get<ChainAttrs>(attrs);
  double flops = 0.0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(chain.count); ++i) {
    const OpDef& def = op_def(chain.steps[i].kind);
    const std::array<TensorType, 2> operands = {in[0], in[0]};
    const auto count = static_cast<std::size_t>(chain_operands(chain.steps[i].kind));
    const Attrs none;
    flops += def.work(std::span(operands).first(count), out, none).flops;
  }
  return {flops, bytes_moved(in, out)};
}

}  // namespace

extern const OpDef PointwiseChain = {.name = "PointwiseChain",
                                     .infer = infer,
                                     .work = work,
                                     .attrs = ChainAttrs{},
                                     .in_place = 0b1,
                                     .any_layout = ~0U};

}  // namespace stepscope::defs

namespace stepscope {

int chain_operands(OpKind kind) {
  switch (kind) {
    case OpKind::Relu:
    case OpKind::Tanh:
    case OpKind::Sigmoid:
    case OpKind::Scale:
      return 1;
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Mul:
    case OpKind::ReluGrad:
    case OpKind::TanhGrad:
    case OpKind::SigmoidGrad:
      return 2;
    default:
      return 0;
  }
}

}  // namespace stepscope
