// What a kernel must know of its site, as plain numbers: filled when a site is lowered, read at
// each launch. Plain data without functions, so that no translation unit emits code for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/numbers.h"

namespace stepscope::eigen {

// A product packs each operand into a buffer (204,864 bytes for the first layer of the mlp at batch
// 32). Eigen takes a buffer up to this size from the stack and a larger one from the heap; its own
// limit, 128 KiB, would cost allocations in every step. backends/eigen/team.cpp refuses threads
// whose stack is too small.
inline constexpr std::size_t kStackBufferBytes = 1048576;

// a {M, K}, b {K, N}, c {M, N}; a transposed operand is stored with its dimensions swapped.
struct Product {
  std::int64_t M, N, K;
  bool transpose_a, transpose_b;
  int threads;
};

// x {N, C, H, W}, w {O, C, KH, KW}, y {N, O, OH, OW}.
struct Convolution {
  std::int64_t N, C, H, W, O, OH, OW, KH, KW;
  std::int64_t stride_h, stride_w, pad_h, pad_w;
  std::int64_t rows_per_block;  // of y, whose columns are made at once
  bool columns_are_x;           // 1 x 1 without stride and padding: none are made
};

struct Elements {
  std::int64_t elements;
};

struct Scaled {
  std::int64_t elements;
  float factor;
};

// A tensor around one of its axes: {outer, depth, inner}.
struct Axis {
  std::int64_t outer, depth, inner;
};

// Of several tensors: the numbers of the own updates fit (backends/cpu/kernels/numbers.h).
using cpu::Update;

}  // namespace stepscope::eigen
