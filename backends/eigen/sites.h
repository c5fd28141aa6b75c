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

// Throws unsupported, with op and type, for an operand in another layout than row-major, and for
// one that is neither f32 nor i32 nor u8 (labels, counts, winners), unless it is to be cast.
void check_types(const OpSite& site);

}  // namespace stepscope::eigen
