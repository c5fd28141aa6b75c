// The schedule that a budget affords.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/budget.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/base/check.h"

namespace stepscope {
namespace {

struct Costs {
  double left_s = 0.0;                  // of the budget, for processes
  double fixed_s = 0.0, round_s = 0.0;  // of one process of every backend

  double seconds(std::int64_t processes, std::int64_t blocks) const {
    return static_cast<double>(processes) * (fixed_s + static_cast<double>(blocks) * round_s);
  }
  // The most blocks, an even number, that so many processes may have; below 0: not even none.
  std::int64_t blocks_for(std::int64_t processes) const {
    const double for_blocks = left_s / static_cast<double>(processes) - fixed_s;
    if (for_blocks < 0.0) return -1;
    const double blocks = round_s > 0.0 ? for_blocks / round_s : kMostBlocks + 2.0;
    return 2 * static_cast<std::int64_t>(std::min(blocks, kMostBlocks + 2.0) / 2.0);
  }
};

struct Size {
  std::int64_t processes = 0, blocks = 0;
};

Size published(const Costs& costs) {
  std::int64_t processes = kPublishedProcesses;
  while (processes < kMostProcesses && costs.blocks_for(processes) > kMostBlocks) ++processes;
  return {processes, costs.blocks_for(processes)};
}

// The most processes, from `most` down to `fewest`, with at least so many blocks.
std::optional<Size> most_processes(const Costs& costs, std::int64_t most, std::int64_t fewest,
                                   std::int64_t blocks) {
  for (std::int64_t processes = most; processes >= fewest; --processes) {
    if (costs.blocks_for(processes) >= blocks) return Size{processes, costs.blocks_for(processes)};
  }
  return std::nullopt;
}

Size size_for(const Costs& costs) {
  if (costs.blocks_for(kPublishedProcesses) >= kLeastBlocks) return published(costs);
  if (const auto working =
          most_processes(costs, kPublishedProcesses - 1, kWorkingProcesses, kLeastBlocks)) {
    return *working;
  }
  return most_processes(costs, kWorkingProcesses, 1, kFewestBlocks).value_or(Size{1, 0});
}

void check_seconds(double seconds, const char* what) {
  check(std::isfinite(seconds) && seconds >= 0.0, Fault::bad_input,
        "schedule: {} is {} s, expected 0 or more", what, seconds);
}

}  // namespace

const char* claim_of(std::int64_t processes) {
  if (processes >= kPublishedProcesses) return "published";
  return processes >= kWorkingProcesses ? "working" : "exploratory";
}

ScheduleRecord plan_schedule(double budget_s, double pilot_s,
                             const std::vector<PilotCosts>& per_backend, std::uint64_t seed) {
  check(!per_backend.empty(), Fault::bad_input, "schedule: no backend");
  check_seconds(budget_s, "the budget");
  check_seconds(pilot_s, "the pilot");
  Costs costs{.left_s = budget_s - pilot_s};
  for (const PilotCosts& backend : per_backend) {
    check_seconds(backend.fixed_s, "the fixed part of a process");
    check_seconds(backend.round_s, "a round of blocks");
    costs.fixed_s += backend.fixed_s;
    costs.round_s += backend.round_s;
  }
  const Size size = size_for(costs);
  ScheduleRecord schedule;
  schedule.budget_s = budget_s;
  schedule.processes = size.processes;
  schedule.blocks = std::clamp(size.blocks, kFewestBlocks, kMostBlocks);
  schedule.expected_s = pilot_s + costs.seconds(schedule.processes, schedule.blocks);
  schedule.slot_ms = kSlotMs;
  schedule.seed = seed;
  schedule.claim = claim_of(schedule.processes);
  return schedule;
}

}  // namespace stepscope
