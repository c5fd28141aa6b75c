// Update ops and the control block.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/optimizer.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "ops/base/check.h"
#include "ops/base/nearest.h"

namespace stepscope {
namespace {

constexpr std::array kKinds = {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::momentum,
                               OptimizerSpec::Kind::adam};

struct Control {
  ValueId rate;  // that the updates take
  ValueId step;
};

// The states of the control block; what a schedule makes of them, where there is one.
Control append_control(Graph& graph, DType dtype, const ScheduleAttrs& schedule) {
  Control control{graph.declare(Role::state, {Shape{}, dtype}, std::string(kLearningRate)),
                  graph.declare(Role::state, {Shape{}, DType::i32}, std::string(kStepCount))};
  if (!schedule.is_constant()) {
    control.rate = graph.apply1(OpKind::ScheduledRate, {control.rate, control.step}, schedule);
  }
  return control;
}

void append_update(Graph& graph, ValueId parameter, ValueId gradient, const Control& control,
                   const OptimizerSpec& spec, bool advance) {
  std::vector<ValueId> inputs = {parameter, gradient};
  for (const std::string& state : state_names(spec.kind, graph.value(parameter).name)) {
    inputs.push_back(graph.declare(Role::state, graph.type(parameter), state));
  }
  inputs.push_back(control.rate);
  if (advance || spec.kind == OptimizerSpec::Kind::adam) inputs.push_back(control.step);
  switch (spec.kind) {
    case OptimizerSpec::Kind::sgd:
      graph.apply(OpKind::SgdUpdate, std::move(inputs), SgdAttrs{advance});
      break;
    case OptimizerSpec::Kind::momentum:
      graph.apply(OpKind::MomentumUpdate, std::move(inputs), MomentumAttrs{spec.mu, advance});
      break;
    case OptimizerSpec::Kind::adam:
      graph.apply(OpKind::AdamUpdate, std::move(inputs),
                  AdamAttrs{spec.beta1, spec.beta2, spec.epsilon, advance});
      break;
  }
}

}  // namespace

std::string_view name(OptimizerSpec::Kind kind) {
  switch (kind) {
    case OptimizerSpec::Kind::sgd:
      return "sgd";
    case OptimizerSpec::Kind::momentum:
      return "momentum";
    case OptimizerSpec::Kind::adam:
      return "adam";
  }
  return "?";
}

OptimizerSpec::Kind optimizer_kind(std::string_view text) {
  std::vector<std::string> names;
  for (const OptimizerSpec::Kind kind : kKinds) {
    if (name(kind) == text) return kind;
    names.emplace_back(name(kind));
  }
  fail(Fault::bad_input, "{}", unknown_name("optimizer", text, names));
}

std::vector<std::string> state_names(OptimizerSpec::Kind kind, std::string_view parameter) {
  switch (kind) {
    case OptimizerSpec::Kind::sgd:
      return {};
    case OptimizerSpec::Kind::momentum:
      return {fmt::format("{}.velocity", parameter)};
    case OptimizerSpec::Kind::adam:
      return {fmt::format("{}.m", parameter), fmt::format("{}.v", parameter)};
  }
  return {};
}

void append_updates(Graph& graph, std::span<const ValueId> parameters,
                    std::span<const ValueId> gradients, const OptimizerSpec& spec) {
  check(parameters.size() == gradients.size() && !parameters.empty(), Fault::bad_graph,
        "append_updates: {} parameters, {} gradients", parameters.size(), gradients.size());
  graph.enter(Phase::update);
  const Control control = append_control(graph, graph.type(parameters[0]).dtype, spec.schedule);
  std::vector<std::size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return gradients[a] < gradients[b]; });
  for (const std::size_t i : order) {
    append_update(graph, parameters[i], gradients[i], control, spec, i == order.back());
  }
}

}  // namespace stepscope
