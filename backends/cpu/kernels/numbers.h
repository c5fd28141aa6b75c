// What a kernel must know of its site, as plain numbers: filled when a site is lowered, read at
// each launch. Plain data without functions, so that no translation unit emits code for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/api/loop_steps.h"

#include "backends/api/schedule_numbers.h"

namespace stepscope::cpu {

// Images of `channel blocks` {C / block, inner, block}: where the padding of the last block is.
// images == 0: there is none, or it need not be written.
struct Padding {
  std::int64_t images, image_elements, inner, block, used;
};

struct Elements {
  std::int64_t elements;
  Padding padding;  // to be set to zero: of ops that make something else of a zero
};

struct Scaled {
  std::int64_t elements;
  float factor;
};

// A tensor around one of its axes: {outer, depth, inner}.
struct Axis {
  std::int64_t outer, depth, inner;
};

// {N, C}: rows to be classified.
struct Rows {
  std::int64_t N, C;
  bool has_factor;  // d_loss or the rate
};

// {N, C, inner}, stored {N, ceil(C / block), inner, block}.
struct Blocked {
  std::int64_t N, C, inner, block;
};

struct Reordering {
  std::int64_t N, C, inner, from, to;  // blocks
  std::size_t bytes;                   // of the whole, where it is a copy
};

// x {planes, H, W, block}, y {planes, OH, OW, block}; a plane is a block of channels of an image.
struct Pool {
  std::int64_t N, C, block;
  std::int64_t H, W, OH, OW;
  std::int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
};

// In front of the saved winners of a MaxPool (kernels/windows.h); their places begin at a cache
// line.
inline constexpr std::size_t kWinnersHeader = 64;

// table {rows, row}, indices {N}
struct Indexed {
  std::int64_t N, rows, row;
  std::size_t row_bytes;
};

// Most tensors of one update: kMaxInputs of ops/ir/op_def.h allows no more.
inline constexpr int kMaxTensors = 22;

struct Update {
  int tensors;
  bool advance_step;
  bool scaled_gradient;
  float mu, epsilon;
  double beta1, beta2;
  std::int64_t elements[kMaxTensors];
};

struct Chain {
  std::int64_t elements;
  int count, inputs;
  LoopStep steps[kMaxSteps];
  Padding padding;
};

union Numbers {
  Elements elements;
  Scaled scaled;
  Axis axis;
  Rows rows;
  Blocked blocked;
  Reordering reordering;
  Pool pool;
  Indexed indexed;
  Update update;
  ScheduleNumbers schedule;
  Chain chain;
};

// Addresses of the inputs, then of the outputs. Any address that fits the element type will do;
// multiples of 64 bytes are fastest.
using Operands = std::byte* const*;

// All kernels are of one type.
using Function = void (*)(Operands operands, std::byte* scratch, const Numbers& numbers);

}  // namespace stepscope::cpu
