// What is said of a run beside its tables and sentences: status, gates, voids, what has no trace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

// complete; void: why.
std::string status_line(const Record& record);

// "equal work: 40 of 40 gates passed before the timing, ...; by: bits", then a line for each that
// failed.
std::vector<std::string> gate_lines(const Record& record);

// "blocks voided, and kept in the record: 2 of 40 (sentinel: 2)"; empty without blocks.
std::string voids_line(const Record& record);

// Quantities that only a trace of a device gives and no arm has; empty where nothing was measured.
std::string untraced_line(const Record& record);

// The schedule and what it affords, in words; over: it exceeds the budget.
std::string schedule_line(const ScheduleRecord& schedule);
std::string claim_line(const ScheduleRecord& schedule);
bool is_over_budget(const ScheduleRecord& schedule);

// "sgd at 0.1"; with its schedule "sgd at 0.1 (cosine:1000)", and ", with TF32".
std::string rate_text(const WorkFacts& work);
// The model and how it is trained: "mlp:784-128-10, sgd at 0.1, data: generated, seed 1".
std::string work_line(const Record& record);

// Sentences of the record, or those that follow from it.
std::vector<std::string> summary_of(const Record& record);

}  // namespace stepscope
