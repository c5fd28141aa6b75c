// A record as text for a terminal: tables, and what they say in plain words. Knows no clock, and no
// colour: a verdict is a word.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "bench/record/record.h"

namespace stepscope {

// Of `compare`: status, gates, tables, what was voided or flagged, the notes, and last at most five
// sentences (the record's own summary, where it has one). The schedule only of a single process:
// that of several was told before. What was not measured says so. Prose is wrapped.
std::string compare_text(const Record& record);

// What will run, how long it takes and which claim it affords: before the first timing.
std::string schedule_text(const ScheduleRecord& schedule);

// Of `train`: a row per epoch; submissions_table (bench/report/tables.h) goes below them.
std::string epoch_header();
std::string epoch_row(const EpochRecord& epoch);

}  // namespace stepscope
