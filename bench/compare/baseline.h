// A run against an older record of the same step on the same machine. It tells whether something
// moved since; it is no ratio of two arms and never called a speed-up.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/record/record.h"

namespace stepscope {

// One row for each arm of `now`, by name. Each process counts as the median of its throughput list
// in units of the median of its own sentinels, since the machine may have another speed today;
// Welch's t on the logarithms. A row has a reason and no numbers where the arm is new, processor,
// threads, work or protocol differ, or one of the two records is not complete. The band is the
// wider of the two runs', by the controls of the arm's backend and batch.
std::vector<BaselineRecord> compare_with_baseline(const Record& now, const Record& then);

}  // namespace stepscope
