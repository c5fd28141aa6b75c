// Noise of generated images, in integers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/base/philox.h"

namespace stepscope {

// About normal, mean 0: the sum of four bytes, whose deviation is 147.8, times scale / 256.
inline int draw_noise(Philox& random, int scale) {
  constexpr int kMean = 2 * 255;
  const std::uint32_t word = random.next_u32();
  const int sum =
      static_cast<int>((word & 0xff) + (word >> 8 & 0xff) + (word >> 16 & 0xff) + (word >> 24));
  return (sum - kMean) * scale / 256;
}

}  // namespace stepscope
