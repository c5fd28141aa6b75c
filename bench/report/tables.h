// The tables of a report, at most about 120 characters wide. Each ends with a line break, or is
// empty where there is nothing to show.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

// Pairs: time ratio with interval, what both cost per step, verdict, p. Pairs within a backend,
// then between backends. The minimum of a list is in none of these numbers.
std::string verdict_table(const Record& record);
// The base against itself, and the other arms whose answer is known.
std::string control_table(const Record& record);

// Each method in a table of its own: they answer different questions.
std::string latency_table(const Record& record);
std::string throughput_table(const Record& record);
std::string submission_table(const Record& record);  // submitted-only
std::string dispatch_table(const Record& record);    // empty kernels

// What a step of each arm is made of: ops, submissions, kernels executed, apart from each other.
std::string counts_table(const Record& record);
// The calls of a step by what they are for, at the largest batch of each backend.
std::string phases_table(const Record& record);
// Submissions of a run by activity, per step and in all, never a total over activities.
std::string submissions_table(const std::vector<SubmissionRecord>& submissions);

std::string one_off_table(const Record& record);
std::string break_even_table(const Record& record);
// At the largest batch of each backend: the first step and the steady state, then by owner.
std::string memory_table(const Record& record);
std::string utilization_table(const Record& record);
std::string calibration_table(const std::vector<CalibrationRow>& rows);
std::string baseline_table(const std::vector<BaselineRecord>& rows);

// What each pass removed, of the arms with fusion, at the largest batch of each backend.
std::string passes_table(const Record& record);
// What each pass is worth: all passes against all but one. For records of `compare --ablate`.
std::string ablation_table(const Record& record);

}  // namespace stepscope
