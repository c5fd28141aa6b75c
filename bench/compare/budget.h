// How many processes and blocks a budget affords, and so which claim.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

// What one process of a backend costs, as a pilot process measured it.
struct PilotCosts {
  double fixed_s = 0.0;  // all but the blocks: arms, gates, one-off costs, warm-up, lists
  double round_s = 0.0;  // one block of every pair, with its sentinels
};

inline constexpr std::int64_t kWorkingProcesses = 5;     // from here on: intervals and verdicts
inline constexpr std::int64_t kPublishedProcesses = 10;  // from here on: may be published
inline constexpr std::int64_t kMostProcesses = 20;
inline constexpr std::int64_t kLeastBlocks = 16;  // per pair and process, where affordable
inline constexpr std::int64_t kFewestBlocks = 4;  // less says nothing about a process
inline constexpr std::int64_t kMostBlocks = 60;   // beyond it another process says more
inline constexpr double kSlotMs = 5.0;            // shortest slot

// Ten processes per backend with at least 16 blocks of each pair; more processes where the budget
// affords more than 60 blocks; else down to five processes; else five with fewer blocks; else fewer
// processes, which affords no verdict. `pilot_s` has been spent. The least is one process of four
// blocks, whatever the budget: expected_s tells.
// Throws bad_input for no backend, or a cost or budget that is not finite or below 0.
ScheduleRecord plan_schedule(double budget_s, double pilot_s,
                             const std::vector<PilotCosts>& per_backend, std::uint64_t seed);

// published, working or exploratory.
const char* claim_of(std::int64_t processes);

}  // namespace stepscope
