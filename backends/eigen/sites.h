// From a site to the numbers that its kernel is launched with (kernels/numbers.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/api/kernel.h"
#include "backends/eigen/kernels/numbers.h"

namespace stepscope::eigen {

// One specialisation per struct of numbers.h. `threads` is for products.
// Requires: the site passed the shape rule of its op.
template <class Numbers>
Numbers numbers_of(const OpSite& site, int threads);

// Throws unsupported, with the op and the type, when an operand is neither f32 nor i32 (labels,
// counts, the step).
void check_types(const OpSite& site);

}  // namespace stepscope::eigen
