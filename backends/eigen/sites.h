// From a site to the numbers that its kernel is launched with (kernels/numbers.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "backends/api/kernel.h"
#include "backends/cpu/kernels.h"
#include "backends/eigen/kernels/numbers.h"

namespace stepscope::eigen {

// One specialisation per struct of numbers.h. `threads` is for products.
// Requires: the site passed the shape rule of its op.
template <class Numbers>
Numbers numbers_of(const OpSite& site, int threads);

// The own body of an activation, from y to y; nothing for none.
std::optional<cpu::Body> activation_of(Activation activation, const TensorType& y, cpu::Isa isa);

// Throws unsupported, with op and type, for an operand on f64 or in another layout than row-major.
void check_types(const OpSite& site);

}  // namespace stepscope::eigen
