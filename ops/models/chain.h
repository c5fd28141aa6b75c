// chain:N[:elements]: N dependent tiny ops, to see launch overhead against node count.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "ops/models/model.h"

namespace stepscope {

// Each op halves or doubles its input, in turn: exact in binary, so values stay bounded and equal
// on every backend. 256 elements unless given. No parameters and no labels: nothing is trained.
Model make_chain(std::string_view settings, const OptimizerSpec& optimizer);

}  // namespace stepscope
