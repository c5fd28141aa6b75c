// Running both sides of the gate and comparing them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/gate.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "ops/base/check.h"

namespace stepscope {
namespace {

// What the step keeps: the loss, or `out` of a model without one.
std::vector<double> result_of(Session& session, std::int64_t batch) {
  const bool has_loss = session.step(batch).graph().find("loss").has_value();
  return session.read_kept(batch, has_loss ? "loss" : "out");
}

// Empty when the tensors have equal bits; else the name and the first element that differs.
std::string difference(const std::map<std::string, std::vector<std::byte>>& a,
                       const std::map<std::string, std::vector<std::byte>>& b,
                       std::string_view when) {
  for (const auto& [name, bytes] : a) {
    const auto other = b.find(name);
    if (other == b.end()) return fmt::format("{} is not in both arms", name);
    if (bytes == other->second) continue;
    const auto first = std::mismatch(bytes.begin(), bytes.end(), other->second.begin()).first;
    return fmt::format("{} differs {} at byte {} of {}", name, when, first - bytes.begin(),
                       bytes.size());
  }
  return {};
}

// Norm of the difference over the norm; parameters and states are f32, the step count i32.
double relative_distance(std::span<const std::byte> a, std::span<const std::byte> b) {
  double difference = 0.0;
  double norm = 0.0;
  for (std::size_t i = 0; i + sizeof(float) <= a.size(); i += sizeof(float)) {
    float left = 0.0F;
    float right = 0.0F;
    std::memcpy(&left, a.data() + i, sizeof(float));
    std::memcpy(&right, b.data() + i, sizeof(float));
    difference += (double{left} - double{right}) * (double{left} - double{right});
    norm += double{left} * double{left};
  }
  return norm > 0.0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

}  // namespace

GateTrace gate_trace(Session& session, const InputRing& ring, std::int64_t batch,
                     std::int64_t steps) {
  GateTrace trace;
  session.reset();
  for (std::int64_t step = 0; step < steps; ++step) {
    session.load(ring.at(step).x, ring.at(step).labels);
    session.enqueue_step(batch);
    trace.results.push_back(result_of(session, batch));
    if (step == 0) trace.after_first = session.parameters_and_states();
  }
  trace.after_last = session.parameters_and_states();
  session.reset();
  return trace;
}

GateRecord compare_bits(const GateTrace& baseline, const GateTrace& arm) {
  GateRecord gate{.criterion = "bits", .steps = kGateSteps};
  for (std::size_t step = 0; step < baseline.results.size(); ++step) {
    const std::vector<double>& a = baseline.results[step];
    const std::vector<double>& b = arm.results[step];
    // Bit patterns, so that NaN equals NaN and -0 differs from +0.
    if (a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0) {
      continue;
    }
    gate.detail =
        fmt::format("results of step {} differ, first {} and {}", step + 1, a.front(), b.front());
    return gate;
  }
  gate.detail = difference(baseline.after_first, arm.after_first, "after step 1");
  if (gate.detail.empty()) {
    gate.detail =
        difference(baseline.after_last, arm.after_last, fmt::format("after step {}", kGateSteps));
  }
  gate.passed = gate.detail.empty();
  return gate;
}

GateRecord compare_within(const GateTrace& baseline, const GateTrace& arm, double tolerance) {
  const std::size_t steps = std::min(baseline.results.size(), arm.results.size());
  GateRecord gate{.criterion = fmt::format("{:g} relative", tolerance),
                  .steps = static_cast<std::int64_t>(steps)};
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < baseline.results[step].size(); ++i) {
      const double a = baseline.results[step][i];
      const double b = arm.results[step][i];
      if (std::abs(a - b) <= tolerance * std::max(1.0, std::abs(a))) continue;  // false for NaN
      gate.detail = fmt::format("result of step {}: {} and {}", step + 1, a, b);
      return gate;
    }
  }
  for (const auto& [name, bytes] : baseline.after_first) {
    const auto other = arm.after_first.find(name);
    if (other == arm.after_first.end() || other->second.size() != bytes.size()) {
      gate.detail = fmt::format("{} is not in both arms", name);
      return gate;
    }
    const double distance = relative_distance(bytes, other->second);
    if (distance <= tolerance) continue;
    gate.detail = fmt::format("{} differs after step 1 by {:.2e} of its norm", name, distance);
    return gate;
  }
  gate.passed = true;
  return gate;
}

}  // namespace stepscope
