// Gradient flow: a list of ops that are linear in the gradient, and a walk. An op that is not on
// the list is not linear, as far as we know.
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/gradient_flow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

// A factor common to the inputs in a mask (bit i: input i), and to no other input, is a factor of
// every output. One mask or two.
struct Linear {
  OpKind kind;
  std::array<std::uint32_t, 2> masks;
};

constexpr std::uint32_t kFirst = 0b01, kSecond = 0b10, kBoth = 0b11;

constexpr std::array kLinear = {
    Linear{OpKind::MatMul, {kFirst, kSecond}},
    Linear{OpKind::MatMulReluGrad, {kFirst, kSecond}},
    Linear{OpKind::MatMulMaskGrad, {kFirst, kSecond}},
    Linear{OpKind::MatMulBiasGrad, {kSecond, kSecond}},
    Linear{OpKind::Conv2dInputGrad, {kFirst, kFirst}},
    Linear{OpKind::Conv2dInputReluGrad, {kFirst, kFirst}},
    Linear{OpKind::Conv2dWeightGrad, {kSecond, kSecond}},
    Linear{OpKind::Conv2dWeightBiasGrad, {kSecond, kSecond}},
    Linear{OpKind::BiasGrad, {kFirst, kFirst}},
    Linear{OpKind::ReduceSum, {kFirst, kFirst}},
    Linear{OpKind::Broadcast, {kFirst, kFirst}},
    Linear{OpKind::Scale, {kFirst, kFirst}},
    Linear{OpKind::Add, {kBoth, kBoth}},
    Linear{OpKind::Sub, {kBoth, kBoth}},
    Linear{OpKind::Mul, {kFirst, kSecond}},
    Linear{OpKind::ReluGrad, {kFirst, kFirst}},
    Linear{OpKind::TanhGrad, {kFirst, kFirst}},
    Linear{OpKind::SigmoidGrad, {kFirst, kFirst}},
    Linear{OpKind::MaxPoolGrad, {kFirst, kFirst}},
    Linear{OpKind::MaxPoolReluGrad, {kFirst, kFirst}},
    Linear{OpKind::AvgPoolGrad, {kFirst, kFirst}},
    Linear{OpKind::Gather, {kFirst, kFirst}},
    Linear{OpKind::ScatterAdd, {kFirst, kFirst}},
    Linear{OpKind::Reorder, {kFirst, kFirst}},
};

class Flow {
 public:
  Flow(const Graph& graph, const Uses& uses)
      : graph_(graph), uses_(uses), carries_(graph.values().size()) {}

  GradientFlow run() {
    if (find_rate()) {
      for (std::size_t i = 0; i < graph_.ops().size() && flow_.refusal.empty(); ++i) visit(i);
    }
    if (flow_.refusal.empty() && flow_.sources.empty()) {
      refuse("there is no gradient of a softmax cross-entropy to carry the rate");
    }
    if (flow_.refusal.empty() && flow_.updates.empty()) refuse("nothing is updated by SGD");
    if (flow_.refusal.empty() && flow_.schedule) check_schedule();
    return std::move(flow_);
  }

 private:
  void refuse(std::string why) { flow_.refusal = std::move(why); }

  bool find_rate() {
    const std::optional<ValueId> rate = graph_.find(kLearningRate);
    if (!rate) {
      refuse(fmt::format("there is no {}", kLearningRate));
    } else if (uses_.overwritten(*rate, -1, graph_.ops().size())) {
      refuse(fmt::format("{} is overwritten in the step", kLearningRate));
    } else {
      flow_.rate = *rate;
      find_schedule();
    }
    return flow_.refusal.empty();
  }

  // The first op that makes a rate of the whole step out of control.lr; an update at another rate
  // refuses later.
  void find_schedule() {
    for (const std::size_t i : uses_.readers(flow_.rate)) {
      const Op& op = graph_.ops()[i];
      if (op.kind != OpKind::ScheduledRate) continue;
      if (uses_.overwritten(op.inputs[1], -1, i)) {
        return refuse_op(op, "reads a step count that the step has changed");
      }
      flow_.rate = op.outputs[0];
      flow_.schedule = i;
      return;
    }
  }

  // It may have to move in front of the first loss gradient: what it reads must be there by then.
  void check_schedule() {
    const Op& op = graph_.ops()[*flow_.schedule];
    for (const ValueId id : op.inputs) {
      const std::int32_t maker = graph_.value(graph_.source(id)).producer;
      if (maker >= static_cast<std::int32_t>(flow_.sources.front())) {
        return refuse_op(
            op, fmt::format("reads {}, which is made behind the loss gradient", graph_.label(id)));
      }
    }
  }

  bool carries(ValueId id) const {
    return carries_[static_cast<std::size_t>(graph_.source(id).index)];
  }

  void mark(ValueId id) {
    carries_[static_cast<std::size_t>(id.index)] = true;
    if (uses_.kept(id)) refuse(fmt::format("the gradient {} is kept", graph_.label(id)));
  }

  void visit(std::size_t i) {
    const Op& op = graph_.ops()[i];
    std::uint32_t mask = 0;
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      if (!carries(op.inputs[k])) continue;
      if (k >= 32) return refuse_op(op, "reads a gradient");
      mask |= 1U << k;
    }
    const bool grad = op.kind == OpKind::SoftmaxCrossEntropyGrad;
    if (mask == 0) {
      if (grad || op.kind == OpKind::SoftmaxCrossEntropyWithGrad) enter(i, grad ? 0 : 1);
    } else if (op.kind == OpKind::SgdUpdate) {
      end(i);
    } else if (op.kind == OpKind::MomentumUpdate || op.kind == OpKind::AdamUpdate) {
      refuse(fmt::format("{} is updated by {}, not by plain SGD", graph_.label(op.inputs[0]),
                         name(op.kind)));
    } else {
      pass(op, mask);
    }
  }

  void refuse_op(const Op& op, std::string_view why) {
    refuse(fmt::format("{} {} {}", name(op.kind),
                       op.outputs.empty() ? "" : graph_.label(op.outputs[0]), why));
  }

  // The loss gradient is made here, as output `output`.
  void enter(std::size_t i, std::size_t output) {
    const Op& op = graph_.ops()[i];
    const ValueId gradient = op.outputs[output];
    const TensorType& type = graph_.type(gradient);
    if (op.inputs.size() == 3) {
      return refuse(fmt::format("the loss gradient {} is multiplied by {} already",
                                graph_.label(gradient), graph_.label(op.inputs[2])));
    }
    // The rate must not push gradients out of a narrow type's range.
    if (type.dtype != DType::f32 && type.dtype != DType::f64) {
      return refuse(fmt::format("the loss gradient {} is {}, neither f32 nor f64",
                                graph_.label(gradient), name(type.dtype)));
    }
    if (type.dtype != graph_.type(flow_.rate).dtype) {
      return refuse(fmt::format("the loss gradient {} is {}, {} is {}", graph_.label(gradient),
                                name(type.dtype), graph_.label(flow_.rate),
                                name(graph_.type(flow_.rate).dtype)));
    }
    flow_.sources.push_back(i);
    mark(gradient);
  }

  void pass(const Op& op, std::uint32_t mask) {
    const auto* const rule = std::find_if(kLinear.begin(), kLinear.end(),
                                          [&](const Linear& each) { return each.kind == op.kind; });
    if (rule == kLinear.end()) return refuse_op(op, "is not known to be linear in the gradient");
    if (mask != rule->masks[0] && mask != rule->masks[1]) {
      const bool sum = op.kind == OpKind::Add || op.kind == OpKind::Sub;
      return refuse_op(op,
                       sum ? "adds a gradient and what is none" : "is not linear in the gradient");
    }
    for (const ValueId id : op.outputs) {
      if (flow_.refusal.empty()) mark(id);
    }
  }

  // Only the gradient can carry the factor here: the parameter is none, and the rate is checked.
  void end(std::size_t i) {
    const Op& op = graph_.ops()[i];
    const std::string parameter = graph_.label(graph_.storage(op.inputs[0]));
    const auto& attrs = std::get<SgdAttrs>(op.attrs);
    if (attrs.tensors != 1 || attrs.scaled_gradient) {
      return refuse(fmt::format("the update of {} was fused before", parameter));
    }
    if (op.inputs[2] != flow_.rate) {
      return refuse(fmt::format("{} is updated at the rate {}, not {}", parameter,
                                graph_.label(op.inputs[2]), graph_.label(flow_.rate)));
    }
    const std::size_t readers = uses_.readers(op.inputs[1]).size();
    if (readers != 1) {
      return refuse(fmt::format("the gradient of {}, {}, has {} readers", parameter,
                                graph_.label(op.inputs[1]), readers));
    }
    flow_.updates.push_back(i);
  }

  const Graph& graph_;
  const Uses& uses_;
  std::vector<bool> carries_;  // per value that is no view
  GradientFlow flow_;
};

}  // namespace

GradientFlow gradient_flow(const Graph& graph, const Uses& uses) { return Flow(graph, uses).run(); }

}  // namespace stepscope
