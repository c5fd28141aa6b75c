// Sums and maxima in registers, lane by lane: one order of additions on every instruction set and
// at every address.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/vector.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {

// Four AVX2 registers: as many additions in flight as one takes cycles.
inline constexpr int kLanes = 32;

struct Lanes {
  static constexpr int kParts = kLanes / kWidth;
  Floats<kWidth> part[kParts];
};

inline Lanes lanes_at(const float* x) {
  Lanes lanes;
  for (int p = 0; p < Lanes::kParts; ++p) lanes.part[p] = load<kWidth>(x + p * kWidth);
  return lanes;
}

inline void add_to(Lanes& sum, const Lanes& x) {
  for (int p = 0; p < Lanes::kParts; ++p) sum.part[p] += x.part[p];
}

// The first n elements, zeros behind them. Requires: n < kLanes.
inline Lanes rest_at(const float* x, std::int64_t n) {
  float rest[kLanes] = {};
  for (std::int64_t l = 0; l < n; ++l) rest[l] = x[l];
  return lanes_at(rest);
}

// The upper half onto the lower one, until `left` lanes are left: lanes that are equal modulo
// `left` are added up. Requires: left is a power of two, at most kLanes.
inline void fold(const Lanes& lanes, int left, float* sums) {
  for (int p = 0; p < Lanes::kParts; ++p) store<kWidth>(sums + p * kWidth, lanes.part[p]);
  for (int half = kLanes / 2; half >= left; half /= 2) {
    for (int l = 0; l < half; ++l) sums[l] += sums[l + half];
  }
}

// Requires: n >= kLanes.
inline Lanes lane_sums(const float* x, std::int64_t n) {
  Lanes lanes = lanes_at(x);
  std::int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes) add_to(lanes, lanes_at(x + i));
  add_to(lanes, rest_at(x + i, n - i));
  return lanes;
}

inline float sum_of(const float* row, std::int64_t n) {
  if (n < kLanes) {
    float sum = 0.0F;
    for (std::int64_t i = 0; i < n; ++i) sum += row[i];
    return sum;
  }
  float sums[kLanes];
  fold(lane_sums(row, n), 1, sums);
  return sums[0];
}

// A NaN may or may not be the answer. Requires: n > 0.
inline float largest_of(const float* row, std::int64_t n) {
  float largest = row[0];
  for (std::int64_t i = 1; i < n; ++i) largest = row[i] > largest ? row[i] : largest;
  return largest;
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
