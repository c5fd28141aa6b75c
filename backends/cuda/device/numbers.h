// What a kernel must know of its site, as plain numbers: filled when a site is lowered, read at
// each launch. Nothing in here changes from step to step; what does is read from device memory.
//
// Indices are of 32 bits on the device, so that they cost little: a tensor has fewer than 2^31
// elements here (backends/cuda/own_numbers.cpp refuses others).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/api/loop_steps.h"

namespace stepscope::cuda {

struct Elements {
  std::uint32_t elements;
};

struct Scaled {
  std::uint32_t elements;
  float factor;  // rounded to the type of the values
};

// A tensor around one of its axes: {outer, depth, inner}.
struct Axis {
  std::uint32_t outer, depth, inner;
};

inline constexpr std::uint32_t kRowThreads = 1024;    // of the one block that takes all rows
inline constexpr std::uint32_t kManyThreads = 256;    // of each, where there are several
inline constexpr std::uint32_t kMostRowBlocks = 128;  // about one for each multiprocessor

// {N, C}: rows to be classified, and how they are dealt out: `group` lanes for a row, a power of
// two.
struct Rows {
  std::uint32_t N, C;
  bool has_factor;  // d_loss or the rate
  std::uint32_t group, threads, blocks;
  // Of kernels that end in one number, where there are several blocks; as Update's.
  std::uint32_t* ticket = nullptr;

  std::size_t partial_bytes() const { return blocks == 1 ? 0 : blocks * sizeof(double); }
  std::uint32_t tickets() const { return blocks == 1 ? 0 : 1; }
  template <class Visit>
  void each_address(Visit visit) const {
    visit(ticket);
  }
};

// One block as long as it has no more than 32 elements a thread: blocks that must meet at the end
// cost more than what they would win.
inline Rows rows_of(std::uint32_t N, std::uint32_t C, bool has_factor) {
  std::uint32_t group = 1;
  const bool several = std::uint64_t{N} * C > std::uint64_t{32} * kRowThreads;
  while (group < 32 && group < C && (several || 2 * group * N <= kRowThreads)) group *= 2;
  if (!several) {
    const std::uint32_t all = (N * group + 31) / 32 * 32;
    return {N, C, has_factor, group, all < kRowThreads ? all : kRowThreads, 1};
  }
  const std::uint32_t rows = kManyThreads / group;  // of a block, at a time
  const std::uint32_t blocks = N / rows + (N % rows == 0 ? 0 : 1);
  return {N, C, has_factor, group, kManyThreads, blocks < kMostRowBlocks ? blocks : kMostRowBlocks};
}

// table {rows, row}, indices {N}
struct Indexed {
  std::uint32_t N, rows, row;
};

// Of a row, which a warp of ScatterAdd takes.
inline constexpr std::uint32_t kScatterColumns = 128;

inline constexpr int kMaxTensors = 22;  // of one update: kMaxInputs of ops/ir/op_def.h

struct Update {
  int tensors;
  bool advance_step;
  bool scaled_gradient;
  float mu, epsilon;
  double beta1, beta2;
  std::uint32_t elements[kMaxTensors];
  // Of AdamUpdate with advance_step: zero in device memory, and zero again when the kernel has
  // ended. Launches that share it must not overlap.
  std::uint32_t* ticket;

  std::uint32_t tickets() const { return advance_step ? 1 : 0; }
  std::size_t partial_bytes() const { return 0; }
};

// W {M, N} - a b, a {M, K}, b {K, N}, and the other parameters of the update. W is taken in tiles,
// and K in shares, of which each tile has a block; with `bias` the column sums of b are one row
// more.
struct SmallUpdate {
  static constexpr std::uint32_t kTileRows = 32, kTileColumns = 16;
  static constexpr std::uint32_t kDepth = 128;      // of K, that a block holds at a time
  static constexpr std::uint32_t kMostShares = 32;  // the last block of a tile adds up so many

  std::uint32_t M, N, K;
  bool transpose_a, transpose_b, bias, advance_step;
  int tensors;
  std::uint32_t elements[kMaxTensors];
  // As dealt_out() has it.
  std::uint32_t rows, tiles_across, tiles;  // rows: M, or one more
  std::uint32_t share, shares;              // of K, a multiple of kDepth; how many cover it
  std::uint32_t* ticket;                    // {tiles}, where there are several shares; as Update's

  std::uint32_t tickets() const { return shares == 1 ? 0 : tiles; }
  template <class Visit>
  void each_address(Visit visit) const {
    visit(ticket);
  }
  std::size_t partial_bytes() const {
    const std::size_t elements_of_tile = std::size_t{kTileRows} * kTileColumns;
    return shares == 1 ? 0 : tiles * shares * elements_of_tile * sizeof(float);
  }
};

// One share as long as a block can hold it: blocks that must meet cost more than they win.
inline SmallUpdate dealt_out(SmallUpdate numbers) {
  const auto parts = [](std::uint32_t items, std::uint32_t of) { return (items - 1) / of + 1; };
  numbers.rows = numbers.M + (numbers.bias ? 1 : 0);
  numbers.tiles_across = parts(numbers.N, SmallUpdate::kTileColumns);
  numbers.tiles = parts(numbers.rows, SmallUpdate::kTileRows) * numbers.tiles_across;
  const std::uint32_t depths = parts(numbers.K, SmallUpdate::kDepth);
  const std::uint32_t each = parts(depths, SmallUpdate::kMostShares);
  numbers.share = each * SmallUpdate::kDepth;
  numbers.shares = parts(depths, each);
  return numbers;
}

struct Chain {
  std::uint32_t elements;
  int count, inputs;
  LoopStep steps[kMaxSteps];
};

// {rows, columns}, and a bit for each element: words of 32, `words` of a row with bits in them, and
// then some that nobody reads, up to `row_words`.
struct Mask {
  std::uint32_t rows, columns, words, row_words;
};

enum class Number : std::uint8_t { f32, f64, i32, u8 };

struct Casting {
  std::uint32_t elements;
  Number from, to;
};

}  // namespace stepscope::cuda
