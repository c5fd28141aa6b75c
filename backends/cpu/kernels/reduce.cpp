// ReduceSum along one axis, and BiasGrad: sums in an order that depends on shape and layout alone.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/lanes.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {
namespace {

// Rows summed before their sum joins the total: the error grows with this number plus the number of
// blocks, not with their product.
constexpr std::int64_t kBlock = 256;

// x {depth, stride}, its first kParts kN columns -> y {kParts kN}
template <int kN, int kParts>
void sum_columns(const float* x, std::int64_t depth, std::int64_t stride, float* y) {
  Floats<kN> total[kParts] = {};
  for (std::int64_t begin = 0; begin < depth; begin += kBlock) {
    const std::int64_t rows = depth - begin < kBlock ? depth - begin : kBlock;
    Floats<kN> block[kParts] = {};
    for (std::int64_t d = 0; d < rows; ++d, x += stride) {
      for (int p = 0; p < kParts; ++p) block[p] += load<kN>(x + p * kN);
    }
    for (int p = 0; p < kParts; ++p) total[p] += block[p];
  }
  for (int p = 0; p < kParts; ++p) store<kN>(y + p * kN, total[p]);
}

// x {depth, inner} -> y {inner}
void sum_rows(const float* x, std::int64_t depth, std::int64_t inner, float* y) {
  std::int64_t i = 0;
  for (; i + kLanes <= inner; i += kLanes) {
    sum_columns<kWidth, Lanes::kParts>(x + i, depth, inner, y + i);
  }
  for (; i + 8 <= inner; i += 8) sum_columns<4, 2>(x + i, depth, inner, y + i);
  for (; i + 4 <= inner; i += 4) sum_columns<4, 1>(x + i, depth, inner, y + i);
  for (; i + 2 <= inner; i += 2) sum_columns<1, 2>(x + i, depth, inner, y + i);
  if (i < inner) sum_columns<1, 1>(x + i, depth, inner, y + i);
}

// x {inner, block} -> sums {block}. Requires: block divides kLanes.
void sum_lanes(const float* x, std::int64_t inner, std::int64_t block, float* sums) {
  const std::int64_t n = inner * block;
  if (n >= kLanes) return fold(lane_sums(x, n), static_cast<int>(block), sums);
  for (std::int64_t l = 0; l < block; ++l) {
    float sum = 0.0F;
    for (std::int64_t i = l; i < n; i += block) sum += x[i];
    sums[l] = sum;
  }
}

}  // namespace

// x {outer, depth, inner} -> y {outer, inner}
void ReduceSum(Operands operands, std::byte*, const Numbers& numbers) {
  const auto [outer, depth, inner] = numbers.axis;
  const float* x = f32(operands, 0);
  float* y = f32(operands, 1);
  for (std::int64_t i = 0; i < outer; ++i) {
    if (inner == 1) {
      y[i] = sum_of(x + i * depth, depth);
    } else {
      sum_rows(x + i * depth * inner, depth, inner, y + i * inner);
    }
  }
}

// dy {N, ceil(C / block), inner, block} -> db {C}: the sums of the planes {inner, block} of an
// image, added up over the images in f64. Without inner dimensions as ReduceSum.
void BiasGrad(Operands operands, std::byte*, const Numbers& numbers) {
  const auto [N, C, inner, block] = numbers.blocked;
  const float* dy = f32(operands, 0);
  float* db = f32(operands, 1);
  if (inner == 1 && block == 1) return sum_rows(dy, N, C, db);
  const std::int64_t blocks = (C + block - 1) / block;
  const bool in_lanes = kLanes % block == 0;
  for (std::int64_t b = 0; b < blocks; ++b) {
    float sums[256];
    double totals[256] = {};  // kMaxChannelBlock of backends/cpu/layout.h fits
    for (std::int64_t n = 0; n < N; ++n) {
      const float* plane = dy + (n * blocks + b) * inner * block;
      if (in_lanes) {
        sum_lanes(plane, inner, block, sums);
      } else {
        sum_rows(plane, inner, block, sums);
      }
      for (std::int64_t l = 0; l < block; ++l) totals[l] += double{sums[l]};
    }
    for (std::int64_t l = 0; l < block && b * block + l < C; ++l) {
      db[b * block + l] = static_cast<float>(totals[l]);
    }
  }
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
