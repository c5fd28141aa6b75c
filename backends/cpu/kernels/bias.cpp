// AddBias and Broadcast.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/loops.h"
#include "backends/cpu/kernels/vector.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {
namespace {

// x, y {inner}
void add_one(const float* x, float bias, std::int64_t inner, float* y) {
#pragma omp simd
  for (std::int64_t i = 0; i < inner; ++i) y[i] = x[i] + bias;
}

// x, y {inner, kBlock}, lanes {kBlock}
template <int kBlock>
void add_lanes(const float* x, const float* lanes, std::int64_t inner, float* y) {
  float bias[kBlock];
  for (int l = 0; l < kBlock; ++l) bias[l] = lanes[l];
  for (std::int64_t i = 0; i < inner * kBlock; i += kBlock) {
#pragma omp simd
    for (int l = 0; l < kBlock; ++l) y[i + l] = x[i + l] + bias[l];
  }
}

// x, y {inner, block}, lanes {block}
void add_block(const float* x, const float* lanes, std::int64_t inner, std::int64_t block,
               float* y) {
  if (block == 16) return add_lanes<16>(x, lanes, inner, y);
  if (block == 8) return add_lanes<8>(x, lanes, inner, y);
  for (std::int64_t i = 0; i < inner; ++i) add(x + i * block, lanes, y + i * block, block);
}

}  // namespace

// x {N, C, inner}, blocked; bias {C} -> y as x
void AddBias(Operands operands, std::byte*, const Numbers& numbers) {
  const auto [N, C, inner, block] = numbers.blocked;
  const float* x = f32(operands, 0);
  const float* bias = f32(operands, 1);
  float* y = f32(operands, 2);
  if (block == 1 && inner == 1) return add_block(x, bias, N, C, y);
  if (block == 1) {
    for (std::int64_t i = 0; i < N * C; ++i)
      add_one(x + i * inner, bias[i % C], inner, y + i * inner);
    return;
  }
  const std::int64_t blocks = (C + block - 1) / block;
  for (std::int64_t i = 0; i < N * blocks; ++i) {
    const std::int64_t first = i % blocks * block;
    const float* lanes = bias + first;
    float padded[256] = {};  // kMaxChannelBlock of backends/cpu/layout.h fits
    if (first + block > C) {
      for (std::int64_t l = 0; first + l < C; ++l) padded[l] = lanes[l];
      lanes = padded;
    }
    add_block(x + i * inner * block, lanes, inner, block, y + i * inner * block);
  }
}

// x {outer, inner} -> y {outer, depth, inner}
void Broadcast(Operands operands, std::byte*, const Numbers& numbers) {
  const auto [outer, depth, inner] = numbers.axis;
  const float* x = f32(operands, 0);
  float* y = f32(operands, 1);
  for (std::int64_t i = 0; i < outer; ++i) {
    if (inner == 1) {
      for (std::int64_t d = 0; d < depth; ++d) y[i * depth + d] = x[i];
      continue;
    }
    for (std::int64_t d = 0; d < depth; ++d) {
      std::memcpy(y + (i * depth + d) * inner, x + i * inner,
                  static_cast<std::size_t>(inner) * sizeof(float));
    }
  }
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
