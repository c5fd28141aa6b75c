// What `compare --fail-on slower` fails on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

// "ARM than BASE" for each pair of arms with the verdict SLOWER, "ARM than in the baseline" for
// each row of the baseline. Not of the control or the self-check, whose answers are known.
std::vector<std::string> slower_of(const Record& record);

// The pairs that are void or without enough evidence for a verdict, with the reason: nothing can be
// said of them, also not that they are no slower.
std::vector<std::string> untold_of(const Record& record);

}  // namespace stepscope
