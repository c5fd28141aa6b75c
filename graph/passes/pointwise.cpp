// pointwise: chains of pointwise ops in one, so that what is between them is neither written nor
// read. A chain follows one value; other operands come from memory.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include "graph/passes/fusion.h"
#include "graph/passes/rewrite.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

constexpr std::array kLinks = {
    OpKind::Relu, OpKind::Tanh, OpKind::Sigmoid,  OpKind::Scale,    OpKind::Add,
    OpKind::Sub,  OpKind::Mul,  OpKind::ReluGrad, OpKind::TanhGrad, OpKind::SigmoidGrad};

bool is_link(const Op& op) {
  return std::find(kLinks.begin(), kLinks.end(), op.kind) != kLinks.end();
}

struct Chain {
  std::vector<std::size_t> ops;
  std::vector<ValueId> inputs;
  ChainAttrs attrs;
};

// Appends op `i`, which reads `current`. The other operand, if there is one, is the next input.
void append(Chain& chain, const Op& op, std::size_t i, ValueId current) {
  ChainStep step{op.kind};
  if (const auto* scale = std::get_if<ScaleAttrs>(&op.attrs)) step.factor = scale->factor;
  if (op.inputs.size() == 2) {
    const bool first = op.inputs[0] == current;
    const bool second = op.inputs[1] == current;
    step.operands = first && second ? ChainOperands::both
                    : first         ? ChainOperands::current_first
                                    : ChainOperands::current_second;
    if (!first || !second) chain.inputs.push_back(op.inputs[first ? 1 : 0]);
  }
  chain.attrs.steps[static_cast<std::size_t>(chain.attrs.count++)] = step;
  chain.ops.push_back(i);
}

// Ends of a chain that need no note of their own.
constexpr std::string_view kNoLink = "no link follows", kFull = "it is full";

// Why the chain ends behind its last op; empty: its reader, `next`, is another link.
std::string end_of(const Rewrite& rewrite, const Chain& chain, std::size_t& next) {
  const ValueId current = rewrite.op(chain.ops.back()).outputs[0];
  const std::vector<std::size_t>& readers = rewrite.uses().readers(current);
  const bool link_follows = std::any_of(readers.begin(), readers.end(), [&](std::size_t reader) {
    return is_link(rewrite.op(reader)) && !rewrite.gone(reader);
  });
  if (!link_follows) return std::string(kNoLink);
  next = readers.front();
  if (rewrite.uses().kept(current)) return rewrite.uses().why_not_inside(current);
  if (readers.back() != next) return rewrite.uses().why_not_inside(current);
  const Op& op = rewrite.op(next);
  if (std::find(op.inputs.begin(), op.inputs.end(), current) == op.inputs.end() ||
      (op.inputs.size() == 2 &&
       rewrite.graph().source(op.inputs[0]) == rewrite.graph().source(op.inputs[1]) &&
       op.inputs[0] != op.inputs[1])) {
    return fmt::format("{} is read under another shape", rewrite.graph().label(current));
  }
  if (chain.ops.size() == kMaxChainSteps) return std::string(kFull);
  return {};
}

// Answers whether the chain had to end because it was full.
bool chain_from(Rewrite& rewrite, std::size_t first) {
  Chain chain;
  const ValueId x = rewrite.op(first).inputs[0];
  chain.inputs.push_back(x);
  append(chain, rewrite.op(first), first, x);
  std::string reason;
  for (std::size_t next = 0;;) {
    reason = end_of(rewrite, chain, next);
    if (!reason.empty()) break;
    append(chain, rewrite.op(next), next, rewrite.op(chain.ops.back()).outputs[0]);
  }
  const ValueId last = rewrite.op(chain.ops.back()).outputs[0];
  const bool full = reason == kFull;
  if (!full && reason != kNoLink) {
    rewrite.note(fmt::format("the chain ends at {} {}: {}", name(rewrite.op(chain.ops.back()).kind),
                             rewrite.graph().label(last), reason));
  }
  if (chain.ops.size() < 2) return full;
  reason = rewrite.replace(
      chain.ops,
      {OpKind::PointwiseChain, chain.attrs, chain.inputs, {last}, rewrite.phases(chain.ops)});
  if (reason.empty()) return full;
  rewrite.note(fmt::format("the chain to {} stays apart: {}", rewrite.graph().label(last), reason));
  return full;
}

}  // namespace

PassResult fuse_pointwise(const Graph& graph) {
  Rewrite rewrite(graph);
  std::size_t full = 0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    if (is_link(graph.ops()[i]) && !rewrite.gone(i) && chain_from(rewrite, i)) ++full;
  }
  if (full > 0) {
    rewrite.note(fmt::format("chains of {} links go on in another one: {}", kMaxChainSteps, full));
  }
  return rewrite.finish("no two pointwise ops follow each other");
}

}  // namespace stepscope
