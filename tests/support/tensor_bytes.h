// Elements of a tensor as doubles, and as the bytes that a backend sees.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ops/ir/types.h"

namespace stepscope::test {

// Rounded to f32 or f64, or truncated to i32 or u8; others fail the test.
std::vector<std::byte> to_bytes(std::span<const double> elements, DType dtype);
std::vector<double> to_doubles(std::span<const std::byte> bytes, DType dtype);

}  // namespace stepscope::test
