// small_cnn and lenet: convolutions, ReLU and pools, then dense layers; fixed sizes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "ops/models/model.h"

namespace stepscope {

// Images of 24 x 24 in one channel, three classes: two convolutions 3 x 3 that keep the size, 8 and
// 16 channels, each with ReLU and a pool, then 576 -> 3. 2,979 parameters. No settings.
Model make_small_cnn(std::string_view settings, const OptimizerSpec& optimizer);

// Images of 28 x 28 in one channel, ten classes: convolutions 5 x 5 to 6 channels (padded by 2) and
// to 16, each with ReLU and a pool, then 400 -> 120 -> 84 -> 10 with ReLU between: LeNet-5 (LeCun
// et al., 1998) with what is used today for its squashing and its trained pools. 61,706 parameters.
// No settings.
Model make_lenet(std::string_view settings, const OptimizerSpec& optimizer);

}  // namespace stepscope
