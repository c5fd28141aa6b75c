// A record of any command as text for a terminal, and what a training says of itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/record/record.h"

namespace stepscope::cli {

// Of `train`: its epochs and submissions; of everything else compare_text (bench/report/text.h).
std::string record_text(const Record& record);

// What was learnt, how long it took, and what all of it holds for; one sentence for each.
std::vector<std::string> train_summary(const Record& record);

}  // namespace stepscope::cli
