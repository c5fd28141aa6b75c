// Shape rules of the gradients of pools, for the plain ops and their fused forms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "ops/ir/op_def.h"

namespace stepscope::defs {

// dy {N, C, OH, OW} -> dx {N, C, height, width}, of Pool2dGradAttrs. Each checks the inputs it
// names and appends the type of dx; throws bad_graph with `op` in front.
void append_pool_grad(std::string_view op, std::span<const TensorType> in, const Attrs& attrs,
                      TypeList& out);
// ..., saved
void append_max_pool_grad(std::string_view op, std::span<const TensorType> in, const Attrs& attrs,
                          TypeList& out);

}  // namespace stepscope::defs
