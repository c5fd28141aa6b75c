// The tables of a report, of one run or of several. Each is empty where the records have nothing
// for it, and then shown by nobody. At most about 120 characters wide on a terminal, for one run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/record/record.h"
#include "bench/report/runs.h"
#include "bench/report/table.h"

namespace stepscope {

// Pairs: time ratio with interval, what both cost per step, verdict, p. Within a backend, and
// between backends. The minimum of a list is in none of these numbers.
Table verdict_table(const Runs& runs);
Table between_table(const Runs& runs);
// The base against itself, and the other arms whose answer is known.
Table control_table(const Runs& runs);
// What each run calls SAME, by backend and batch.
Table band_table(const Runs& runs);
Table baseline_table(const Runs& runs);
// Why pairs are UNDECIDED; what was voided; what was flagged.
Table undecided_table(const Runs& runs);
Table voids_table(const Runs& runs);
Table flags_table(const Runs& runs);
// At which batch a mode, and fusion, stops paying.
Table crossover_table(const Runs& runs);

// Each method in a table of its own: they answer different questions.
Table latency_table(const Runs& runs);
Table throughput_table(const Runs& runs);
Table submission_table(const Runs& runs);
Table device_table(const Runs& runs);    // submitted-only
Table dispatch_table(const Runs& runs);  // empty kernels
// The four side by side, each a time of its own.
Table where_table(const Runs& runs);
Table epochs_table(const Runs& runs);  // of `train`

// What a step of each arm is made of: ops, submissions, kernels executed, apart from each other.
Table counts_table(const Runs& runs);
// The calls of a step by what they are for, at the largest batch of each backend.
Table phases_table(const Runs& runs);
Table bytes_table(const Runs& runs);
// Submissions of a run by activity, per step and in all, never a total over activities.
Table submissions_table(const std::vector<SubmissionRecord>& submissions);
Table submissions_table(const Runs& runs);

// What each pass removed, of the arms with fusion, at the largest batch of each backend.
Table passes_table(const Runs& runs);
// What each pass is worth: all passes against all but one. For records of `compare --ablate`.
Table ablation_table(const Runs& runs);

Table one_off_table(const Runs& runs);
Table break_even_table(const Runs& runs);

// At the largest batch of each backend: the first step and the steady state, then by owner.
Table memory_table(const Runs& runs);
Table owners_table(const Runs& runs);

// Where steps stand between arithmetic and bytes; bounds and use of the machine.
Table roofline_table(const Runs& runs);
Table utilization_table(const Runs& runs);
// What no arm has of the utilization, and why, in a line for each run.
std::vector<std::string> unused_quantities(const Runs& runs);

Table calibration_table(const Runs& runs);
Table gates_table(const Runs& runs);

Table environment_table(const Runs& runs);
Table backends_table(const Runs& runs);
Table protocol_table(const Runs& runs);

}  // namespace stepscope
