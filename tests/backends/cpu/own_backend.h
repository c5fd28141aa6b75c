// The own kernels alone, as a backend: one per instruction set. And what tests of them share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "backends/api/backend.h"
#include "backends/cpu/kernels.h"
#include "tests/conformance/run_op.h"

namespace stepscope::cpu {

using conformance::Bytes;

inline constexpr Isa kAllIsas[] = {Isa::v2, Isa::v3, Isa::v4};
std::vector<Isa> runnable_isas();  // lowest first

// Made on first use and kept. Requires: can_run(isa).
Backend& own_backend(Isa isa);

Bytes bytes_of(const std::vector<float>& values);
std::vector<float> floats_of(const Bytes& bytes);

// Outputs of one call, run between guard bytes; damage is a failure of the test.
std::vector<Bytes> run(const OpSite& site, const std::vector<Bytes>& inputs, Isa isa,
                       const conformance::RunOptions& options = {});

// f32, in a layout.
TensorType tensor(const Shape& shape, std::int64_t block = 0);
OpSite site_of(OpKind kind, const Attrs& attrs, const std::vector<TensorType>& in);

// Numbers of a small set, so that many are equal: multiples of a half from -2 to 2, zeros of both
// signs among them. Dense.
Bytes with_ties(std::int64_t elements, std::uint32_t seed);
// Numbers of many digits, between -1 and 1.
Bytes drawn(std::int64_t elements, std::uint32_t seed);

// The same value in another layout, moved element by element, padding zeros.
Bytes in_layout(const Bytes& dense, const Shape& shape, std::int64_t block);

}  // namespace stepscope::cpu
