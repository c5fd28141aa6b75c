// Sums and maxima in registers, lane by lane: one order of additions on every instruction set and
// at every address.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/eigen/kernels/kernels.h"
#include "backends/eigen/kernels/library.h"

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {

// Eigen keeps a small array of fixed size in registers.
template <int kWidth>
using Lanes = Eigen::Array<float, kWidth, 1>;

template <int kWidth>
Map<const Lanes<kWidth>> lanes_at(const float* x) {
  return Map<const Lanes<kWidth>>(x);
}

// The upper half onto the lower one, until one lane is left. (Eigen's own sum() would fold in
// packets of the instruction set.)
template <int kWidth>
float folded(const Lanes<kWidth>& lanes) {
  if constexpr (kWidth == 1) {
    return lanes[0];
  } else {
    constexpr int kHalf = kWidth / 2;
    return folded<kHalf>(lanes.template head<kHalf>() + lanes.template tail<kHalf>());
  }
}

inline float sum_of(const float* row, std::int64_t n) {
  constexpr int kWidth =
      32;  // four AVX2 registers: as many additions in flight as one takes cycles
  if (n < kWidth) {
    float sum = 0.0F;
    for (std::int64_t i = 0; i < n; ++i) sum += row[i];
    return sum;
  }
  Lanes<kWidth> lanes = lanes_at<kWidth>(row);
  std::int64_t i = kWidth;
  for (; i + kWidth <= n; i += kWidth) lanes += lanes_at<kWidth>(row + i);
  Lanes<kWidth> rest = Lanes<kWidth>::Zero();
  for (int l = 0; i + l < n; ++l) rest[l] = row[i + l];
  return folded<kWidth>(lanes + rest);
}

// A NaN may or may not be the answer. Requires: n > 0.
inline float largest_of(const float* row, std::int64_t n) {
  float largest = row[0];
  for (std::int64_t i = 1; i < n; ++i) largest = row[i] > largest ? row[i] : largest;
  return largest;
}

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
