// What the model builders share: numbers in a model's name, and initial values of the optimizer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/models/model.h"

namespace stepscope {

// Whole numbers between 1 and 2^31 - 1, separated by `separator`. Throws bad_input with the whole
// `spec` and the part that is no such number.
std::vector<std::int64_t> parse_sizes(std::string_view text, char separator, std::string_view spec);

// Adds the states the optimizer keeps for the parameters in `all`, and the control block.
void add_optimizer_states(std::vector<Initial>& all, const OptimizerSpec& optimizer);

}  // namespace stepscope
