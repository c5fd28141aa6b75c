// Records of comparisons that never ran: slots timed on a clock that moves when told, so that the
// truth behind them is known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/record/record.h"
#include "ops/base/philox.h"

namespace stepscope::test {

// What a machine does to times. All off: a slot takes exactly its steps' cost.
struct Noise {
  double process = 0.0;         // deviation of the log of a pair's ratio between processes
  double slot = 0.0;            // deviation of the log of a slot's time
  double spike_share = 0.0;     // of slots, with a delay behind the time
  double spike_mean = 0.5;      // of that delay, exponential, as a share of the time
  double sentinel = 0.0;        // deviation of the log of a sentinel
  double drift_per_slot = 0.0;  // added for each slot since the process began, as a share of a step
  double second_slot = 0.0;     // added to the second slot of two, as a share
  double first_slot = 0.0;      // added to the first slot of a block, as a share
};

// An arm of eigen at batch 32 in one thread, on which a ratio may rest.
ArmRecord arm(const std::string& name, const std::string& role = "arm");

struct Simulation {
  std::int64_t processes = 5, blocks = 16;
  std::int64_t steps = 100;        // of a slot
  double base_step_ns = 50'000.0;  // so a slot lasts 5 ms
  Noise noise;
  std::string stratum = "single";
};

// The slots of one pair, whose true ratio of times is `ratio`: processes in blocks of ABBA and BAAB
// as the schedule of `seed` has them.
PairRecord simulated_pair(const Simulation& simulation, const std::string& base,
                          const std::string& of, double ratio, std::uint64_t seed,
                          const std::string& kind = "arm");

// The base, its A/A control, and one arm for each ratio: named arm0, arm1, ... on the backend eigen
// at batch 32. Each pair has noise of its own.
Record simulated_record(const Simulation& simulation, const std::vector<double>& ratios,
                        std::uint64_t seed);

// Its only ratio in a stratum. Throws where it has none.
const RatioRecord& ratio_of(const Record& record, const std::string& of,
                            const std::string& stratum = "single");

// Whether a flag with this name is in the list.
bool has_flag(const std::vector<std::string>& flags, const std::string& name);

}  // namespace stepscope::test
