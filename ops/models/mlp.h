// mlp: dense layers with an activation between them, softmax and cross-entropy.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "ops/models/model.h"

namespace stepscope {

// `settings` are the layer sizes, 784-128-10 when empty. mlp_tanh has tanh in place of ReLU.
Model make_mlp(std::string_view settings, const OptimizerSpec& optimizer);
Model make_mlp_tanh(std::string_view settings, const OptimizerSpec& optimizer);

}  // namespace stepscope
