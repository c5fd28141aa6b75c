// Running the gates of a batch.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/gating.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "bench/compare/work.h"

namespace stepscope {
namespace {

// What the reference backend may compute for one gate: about two seconds of plain loops.
constexpr double kReferenceFlops = 1e9;

}  // namespace

Arm& Gating::unfused_eager() {
  for (Arm& arm : arms_) {
    if (arm.choice.mode == Mode::eager && arm.record.fusion == to_string(FusionChoice{}))
      return arm;
  }
  if (!apart_) apart_ = std::make_unique<Arm>(make_arm(spec_, backend_, {}, batch_, ring_));
  return *apart_;
}

void Gating::stamp(std::vector<GateRecord>& gates) const {
  for (GateRecord& gate : gates) {
    gate.backend = spec_.backend;
    gate.batch = batch_;
  }
}

std::vector<GateRecord> Gating::run(std::int64_t first) {
  std::vector<GateRecord> gates;
  if (!backend_.info().computes) return gates;
  Arm& eager = unfused_eager();
  const GateTrace baseline = gate_trace(*eager.session, ring_, batch_, kGateSteps, first);
  std::optional<GateTrace> control;
  std::map<std::string, std::pair<std::string, GateTrace>> firsts;  // by fusion; mode and trace
  firsts[eager.record.fusion] = {eager.record.mode_requested, baseline};
  for (Arm& arm : arms_) {
    if (&arm == &eager) continue;
    GateTrace trace = gate_trace(*arm.session, ring_, batch_, kGateSteps, first);
    const auto before = firsts.find(arm.record.fusion);
    if (before != firsts.end()) {
      gates.push_back(compare_bits(before->second.second, trace));
      gates.back().baseline_mode = before->second.first;
      gates.back().baseline_fusion = arm.record.fusion;
    } else {
      if (!control) control = control_trace(*eager.session, ring_, batch_, kGateSteps, first);
      gates.push_back(compare_rounding(baseline, trace, *control,
                                       rounding_tolerance(graph_of(eager), spec_.tf32)));
      gates.back().baseline_mode = eager.record.mode_requested;
      firsts[arm.record.fusion] = {arm.record.mode_requested, std::move(trace)};
    }
    gates.back().mode = arm.record.mode_requested;
    gates.back().fusion = arm.record.fusion;
  }
  stamp(gates);
  return gates;
}

std::vector<GateRecord> Gating::run_reference(const Registry& registry) {
  std::vector<GateRecord> gates;
  if (!backend_.info().computes || spec_.backend == "reference") return gates;
  Arm& eager = unfused_eager();
  const std::unique_ptr<Backend> reference = registry.make("reference", {});
  Session session(*reference, spec_.model,
                  {.mode = Mode::planned, .step_batches = {batch_}, .seed = spec_.seed});
  const auto affordable =
      static_cast<std::int64_t>(kReferenceFlops / std::max(1.0, eager.record.flops));
  const std::int64_t steps = std::clamp<std::int64_t>(affordable, 1, kGateSteps);
  gates.push_back(compare_within(
      gate_trace(session, ring_, batch_, steps), gate_trace(*eager.session, ring_, batch_, steps),
      std::max(kBackendTolerance, rounding_tolerance(graph_of(eager), spec_.tf32))));
  gates.back().baseline_mode = "reference";
  gates.back().mode = eager.record.mode_requested;
  stamp(gates);
  return gates;
}

}  // namespace stepscope
