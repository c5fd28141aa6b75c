// Validate: is a record what it says? Contradictions between its parts, and figures that do not
// follow from the raw lists. The schema (docs/record-schema.json) says which fields there must be;
// this says what they must mean.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

// A line for each problem, beginning with its place; nothing for a good record. Pure. The rules:
//   a sample, sentinel or slot is not below zero; columns of a list are equally long, in time order
//   lists under `latency` waited for each step, and so on: method and covers are those of the place
//   each list has as many samples as the protocol's fact `repeat`, and warm-up its `warm_up_steps`;
//     with the preset gpu-plan at least 30 and 10, unless the record is exploratory
//   a summary is what its lists give, all samples counted; no list without its summary
//   reserved >= allocated, now and at the peak; a peak is not below the end of its window
//   a ratio has the cost of its base beside it, and two arms of equal work, protocol, scope and
//     batch, whose gates passed; where there is none, a reason
//   a block that is not trusted has its cause, and is counted as voided
//   a value that was not found out has a reason: facts, calibration, utilization
//   the share of active SMs comes from counters; lower bounds are not above the time
//   not-run: nothing was measured, and no number says otherwise
std::vector<std::string> problems(const Record& record);

}  // namespace stepscope
