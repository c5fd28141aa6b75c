// Verdicts: FASTER, SLOWER, SAME, UNDECIDED, against a band that the A/A control sets.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "bench/record/record.h"

namespace stepscope {

// Half the width, in logarithms, of the interval of two equal arms, as a share: what this run
// cannot tell apart. Requires an interval.
double floor_of(const Interval& control);

// FASTER or SLOWER: the interval lies outside [1 / (1 + delta), 1 + delta]. SAME: inside. Else
// UNDECIDED. Requires an interval.
const char* verdict_of(const Interval& time_ratio, double delta);

// Verdicts of one run together: p of each against the nearer edge of its band, Holm's correction
// over all of them, verdict and its reason. FASTER and SLOWER need p_holm <= 0.05 too. A ratio
// without an interval is left alone, and counts for nothing; one without delta is UNDECIDED.
void judge(std::span<RatioRecord* const> ratios);

}  // namespace stepscope
