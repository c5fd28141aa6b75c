// Signs of interference in what was measured: flags for people. None of them removes a sample.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/compare/blocks.h"
#include "bench/record/record.h"

namespace stepscope {

// Of an arm, from its slots in all pairs in time order; from its throughput lists where it has
// none. Each begins with its name, a colon behind it:
//   drift        Mann-Kendall p < 0.01 over the processes together, and Theil-Sen's slope over the
//                whole time above 2 % of the median
//   level-shift  medians of the first and last third more than 3 % apart, and their intervals apart
//   contended    the host was taken away in more than 20 % of slots; or, where steps run on the
//                calling thread, its CPU time is below 0.9 of the wall time in half of the slots
//   bimodal      more than 20 % severe outliers, or two groups with a wide gap between them
std::vector<std::string> flags_of_arm(const Record& record, const ArmRecord& arm);

// Of a pair in one stratum; `confidence` of the interval of the position effect:
//   order-effect    the second slot of two differs from the first, or the outer slots of a block
//                   from the inner ones, by an interval without 0
//   order-unbalanced  a process has trusted blocks of one order alone
//   autocorrelated  neighbouring blocks of a process correlate above 0.3; says how many independent
//                   blocks they are worth
std::vector<std::string> flags_of_ratio(const Evidence& evidence, double confidence);

// Takes the flags of flags_of_arm out of a list that others wrote to as well.
void drop_flags_of_arm(std::vector<std::string>& flags);

}  // namespace stepscope
