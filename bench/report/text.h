// A record as text for a terminal: tables, and what they say in plain words. Knows no clock.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "bench/record/record.h"

namespace stepscope {

// Of `compare`: gates, tables, then at most five sentences and the notes.
std::string compare_text(const Record& record);

// Of `train`: a row per epoch.
std::string epoch_header();
std::string epoch_row(const EpochRecord& epoch);

// 12.3 us, 4.56 ms: three significant digits and a unit.
std::string time_text(double ns);
// 407 KiB, 12.3 MiB
std::string bytes_text(double bytes);

}  // namespace stepscope
