// Optimizers: what updates parameters from gradients, as ops of the step.
// Rate and step count are states of the control block (kLearningRate, kStepCount), never
// attributes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ir/graph.h"
#include "ops/ir/schedule_attrs.h"

namespace stepscope {

struct OptimizerSpec {
  enum class Kind : std::uint8_t { sgd, momentum, adam };
  Kind kind = Kind::sgd;
  double rate = 0.1;   // initial value of control.lr
  double mu = 0.9;     // momentum
  double beta1 = 0.9;  // adam, as in Kingma & Ba, section 2
  double beta2 = 0.999;
  double epsilon = 1e-8;
  ScheduleAttrs schedule{};  // of the rate, by the step count
};

std::string_view name(OptimizerSpec::Kind kind);
// Throws bad_input, with the nearest name.
OptimizerSpec::Kind optimizer_kind(std::string_view text);

// States that the optimizer keeps for a parameter: {} for SGD, {"w1.velocity"}, {"w1.m", "w1.v"}.
std::vector<std::string> state_names(OptimizerSpec::Kind kind, std::string_view parameter);

// Appends one update per parameter, in the order in which the gradients are made, with the states
// it needs; the last one counts the step. A schedule that is not constant is one op in front of
// them, whose result they take as the rate. Enters Phase::update.
void append_updates(Graph& graph, std::span<const ValueId> parameters,
                    std::span<const ValueId> gradients, const OptimizerSpec& spec);

}  // namespace stepscope
