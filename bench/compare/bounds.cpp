// The bounds of an arm.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace stepscope {
namespace {

// us: the fastest step, waited for alone or as one of a block.
std::optional<double> fastest_us(const ArmRecord& arm) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const TimeSummary* summary : {&arm.latency_summary, &arm.throughput_summary}) {
    if (summary->count > 0) fastest = std::min(fastest, summary->min_ns * 1e-3);
  }
  if (fastest == std::numeric_limits<double>::infinity()) return std::nullopt;
  return fastest;
}

// What the ops of a step do, by their own account. Every step reads its model segment and writes
// its batch there, which is memory that it must touch, unless ops pick rows of a table: they move
// less than the segment has, and how much of it is not known.
BoundedWork work_of(const ArmRecord& arm) {
  const auto segment = static_cast<double>(arm.model_bytes);
  return {.flops = arm.flops,
          .moved_bytes = arm.fewest_bytes,
          .distinct_bytes = segment <= arm.fewest_bytes ? segment : 0.0,
          .threads = arm.threads};
}

// The bound in us, or nothing and the reason behind the others.
std::optional<double> checked(std::string& reason, std::string_view what,
                              std::optional<double> bound, std::optional<double> fastest) {
  if (!fastest) return std::nullopt;
  if (!bound) {
    reason += fmt::format("; no bound by {}: no rate was probed, or its ops count none", what);
    return std::nullopt;
  }
  if (*bound <= *fastest) return bound;
  reason += fmt::format(
      "; no bound by {}: {:.4g} us by the best probe, and the fastest step took {:.4g} us: the "
      "processor was slower in every probe",
      what, *bound, *fastest);
  return std::nullopt;
}

}  // namespace

std::map<std::string, double> fastest_slots_us(const std::vector<PairRecord>& pairs) {
  std::map<std::string, double> fastest;
  const auto add = [&](const std::string& arm, std::int64_t elapsed_ns, std::int64_t steps) {
    const double us = static_cast<double>(elapsed_ns) * 1e-3 / static_cast<double>(steps);
    const auto [at, fresh] = fastest.try_emplace(arm, us);
    if (!fresh) at->second = std::min(at->second, us);
  };
  for (const PairRecord& pair : pairs) {
    for (const ProcessBlocks& process : pair.processes) {
      for (const TimedBlock& block : process.blocks) {
        for (std::size_t i = 0; i < block.slots.size(); ++i) {
          const bool base = block.order[i] == 'A';
          add(base ? pair.base : pair.of, block.slots[i].elapsed_ns,
              base ? process.base_steps : process.of_steps);
        }
      }
    }
  }
  return fastest;
}

void add_bounds(ArmRecord& arm, const MachineLimits& limits,
                std::optional<double> fastest_slot_us) {
  UtilizationRecord& use = arm.utilization;
  if (use.reason != UtilizationRecord{}.reason) return;
  use.reason = "a backend of the processor: no device counts for it";
  const BoundedWork work = work_of(arm);
  std::optional<double> fastest = fastest_us(arm);
  if (fastest && fastest_slot_us) fastest = std::min(*fastest, *fastest_slot_us);
  use.arith_lower_bound_us =
      checked(use.reason, "arithmetic", arithmetic_bound_us(limits, work), fastest);
  use.bandwidth_lower_bound_us =
      checked(use.reason, "bandwidth", bandwidth_bound_us(limits, work), fastest);
}

}  // namespace stepscope
