// The activation layouts that the CPU backends share. A value {N, C, ...} with layout id b in
// 1..255 lies channel-blocked: {N, ceil(C / b), ..., b}, channels padded with zeros to a multiple
// of b. b = C is NHWC, b = 16 nChw16c; row-major is as b = 1. Whoever writes such a value writes
// the padding as well. Ids from 256 on belong to one backend's library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "ops/ir/types.h"

namespace stepscope::cpu {

inline constexpr std::int64_t kMaxChannelBlock = 255;

// 1 for row_major. Throws unsupported for an id above kMaxChannelBlock.
std::int64_t channel_block(LayoutId layout);

// With the padding. Requires: rank 2 or more where the layout is not row_major.
std::int64_t stored_elements(const TensorType& type);
std::size_t stored_bytes(const TensorType& type);

}  // namespace stepscope::cpu
