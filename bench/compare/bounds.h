// Bounds: how long a step of an arm takes at least, by its arithmetic and by its bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/limits.h"
#include "bench/record/record.h"

namespace stepscope {

// Sets the bounds in arm.utilization, and says in its reason why one is missing. A bound that a
// measured step undercuts is none, and is left out: every probe was slower than that step then.
// Changes nothing where a backend computes nothing, or its device has counts of its own: where the
// reason is another than that nothing was measured. `fastest_slot_us`: per step, of its slots.
// Requires: the summaries of the arm are made.
void add_bounds(ArmRecord& arm, const MachineLimits& limits,
                std::optional<double> fastest_slot_us = std::nullopt);

// us: of each arm by name, the fastest slot of its pairs, per step.
std::map<std::string, double> fastest_slots_us(const std::vector<PairRecord>& pairs);

}  // namespace stepscope
