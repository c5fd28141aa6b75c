// fork:WxN[:elements]: W chains of N tiny ops side by side, to see what a launch costs where ops do
// not wait for each other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "ops/models/model.h"

namespace stepscope {

// Every chain begins at `x`, with a factor of its own: equal chains would be one. The rest of it
// doubles and halves in turn. Adds join the chains in pairs, round by round, into `out`. In all
// W * N + W - 1 ops; the longest way through them is N + ceil(log2(W)). 256 elements unless given.
// No parameters and no labels: nothing is trained.
Model make_fork(std::string_view settings, const OptimizerSpec& optimizer);

}  // namespace stepscope
