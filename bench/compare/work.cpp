// Hash, arithmetic and tolerance of a step.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/work.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/data/sha256.h"
#include "bench/measure/environment.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"
#include "ops/ir/print.h"
#include "ops/models/schedule.h"

namespace stepscope {
namespace {

// Whether the step writes any parameter.
bool updates(const Graph& graph) {
  return std::any_of(graph.ops().begin(), graph.ops().end(),
                     [](const Op& op) { return op.phases.contains(Phase::update); });
}

}  // namespace

double flops_of(const Graph& graph, std::size_t op) {
  const OpSite site = site_of(graph, op);
  return op_def(site.kind).work(site.in, site.out, site.attrs).flops;
}

double flops_of(const Graph& graph) {
  double flops = 0.0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) flops += flops_of(graph, i);
  return flops;
}

Facts work_facts(Session& session, const CompareSpec& spec, std::int64_t batch,
                 const InputRing& ring) {
  Sha256 initial;
  for (const auto& [value_name, bytes] : session.parameters_and_states()) {
    initial.update(std::as_bytes(std::span(value_name)));
    initial.update(std::span<const std::byte>(bytes));
  }
  // Unfused, and without the name of a step file, which is no more than its name.
  const Graph step = spec.model.step(batch);
  const auto yes = [](bool is) { return std::string(is ? "yes" : "no"); };
  return {
      {"model", spec.model.name},
      {"step", sha256_of(to_text(step))},
      {"optimizer", std::string(name(spec.optimizer.kind))},
      {"rate", fmt::to_string(spec.optimizer.rate)},
      {"schedule", schedule_text(spec.optimizer.schedule)},
      {"batch", fmt::to_string(batch)},
      {"partial_policy", std::string(name(spec.partial))},
      {"dtype", "f32"},
      {"tf32", spec.tf32 ? "on" : "off"},
      {"threads", fmt::to_string(session.backend().info().threads)},
      {"denormals", denormals_state()},
      {"seed", fmt::to_string(spec.seed)},
      {"choices", spec.tune_digest.empty() ? "those that come with the backend" : spec.tune_digest},
      {"initial", to_hex(initial.finish())},
      {"batches", to_hex(ring.digest())},
      {"computes_loss", yes(step.find("loss").has_value())},
      {"updates", yes(updates(step))},
      {"validation", "none"}};
}

double reduction_length(const Graph& graph) {
  double longest = 1.0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    double elements = 0.0;
    for (const ValueId id : graph.ops()[i].outputs) {
      elements += static_cast<double>(graph.type(id).shape.elements());
    }
    // A multiplication and an addition for each term of each sum.
    if (elements > 0.0) longest = std::max(longest, flops_of(graph, i) / (2.0 * elements));
  }
  return longest;
}

double rounding_tolerance(const Graph& graph, bool tf32) {
  constexpr double kUnit = std::numeric_limits<float>::epsilon() / 2.0;  // one rounding
  constexpr double kSumsInARow = 8.0;  // forward, loss and backward of a few layers
  constexpr double kLeast = 1e-6;
  // Of both inputs, to 10 bits: a share of each term, whatever their number.
  constexpr double kTf32Inputs = 0x1p-10;
  const double sums = kSumsInARow * kUnit * std::sqrt(reduction_length(graph));
  return std::max(kLeast, tf32 ? std::max(sums, kSumsInARow * kTf32Inputs) : sums);
}

}  // namespace stepscope
