// chain_steps: the steps of a PointwiseChain as numbers for kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "backends/api/loop_steps.h"
#include "ops/ir/chain_attrs.h"

namespace stepscope {

// Writes attrs.count steps. Throws unsupported, in the name of the backend, for a step that no
// kernel has.
void loop_steps_of(const ChainAttrs& attrs, std::string_view backend, LoopStep (&steps)[kMaxSteps]);

}  // namespace stepscope
