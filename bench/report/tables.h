// The tables of a comparison. Each ends with a line break, or is empty where there is nothing to
// show.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/record/record.h"

namespace stepscope {

// Times of a step and their ratios: against unfused eager, graph against planned, fused against
// unfused.
std::string times_table(const Record& record);

// What a step of each arm is made of: ops, calls, the library's share, memory, dispatch.
std::string counts_table(const Record& record);

// What each pass removed, of the arms with fusion, at the largest batch of each backend.
std::string passes_table(const Record& record);

// What each pass is worth: all passes against all but one. For records of `compare --ablate`.
std::string ablation_table(const Record& record);

}  // namespace stepscope
