// The record of a run of the lab: one arm, and the total of each repeat as its latency. What the
// stages took stays in measure_report.json.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/record/record.h"
#include "bench/report/lab_report.h"

namespace stepscope::cli {

// Fills in what begin_record did not. `mode_executed`: by what was counted; empty where nothing
// ran.
void complete_lab_record(Record& record, const LabReport& report, const std::string& mode_executed);

}  // namespace stepscope::cli
