// Reorder between activation layouts: transposes of {channels of a block} x {inner}, in squares of
// 4 x 4 held in registers.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/vector.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {
namespace {

std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

// x {4, from}, y {4, to}: y[j][i] = x[i][j] for the first four of each row
void transpose_square(const float* x, std::int64_t from, float* y, std::int64_t to) {
  const Floats<4> a = load<4>(x), b = load<4>(x + from);
  const Floats<4> c = load<4>(x + 2 * from), d = load<4>(x + 3 * from);
  const Floats<4> ac_low = zip_low<4>(a, c), ac_high = zip_high<4>(a, c);
  const Floats<4> bd_low = zip_low<4>(b, d), bd_high = zip_high<4>(b, d);
  store<4>(y, zip_low<4>(ac_low, bd_low));
  store<4>(y + to, zip_high<4>(ac_low, bd_low));
  store<4>(y + 2 * to, zip_low<4>(ac_high, bd_high));
  store<4>(y + 3 * to, zip_high<4>(ac_high, bd_high));
}

// x {rows, from}, y {columns, to}: y[j][i] = x[i][j] for i < rows, j < columns
void transpose(const float* x, std::int64_t from, std::int64_t rows, std::int64_t columns, float* y,
               std::int64_t to) {
  std::int64_t j = 0;
  for (; j + 4 <= columns; j += 4) {
    std::int64_t i = 0;
    for (; i + 4 <= rows; i += 4) transpose_square(x + i * from + j, from, y + j * to + i, to);
    for (; i < rows; ++i) {
      for (std::int64_t l = j; l < j + 4; ++l) y[l * to + i] = x[i * from + l];
    }
  }
  for (; j < columns; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) y[j * to + i] = x[i * from + j];
  }
}

// One image; x and y as Reorder.
void from_rows(const Reordering& site, const float* x, float* y) {
  const auto [N, C, inner, from, to, bytes] = site;
  for (std::int64_t c = 0; c < C; c += to) {
    transpose(x + c * inner, inner, smaller(to, C - c), inner, y + c * inner, to);
  }
}

void to_rows(const Reordering& site, const float* x, float* y) {
  const auto [N, C, inner, from, to, bytes] = site;
  for (std::int64_t c = 0; c < C; c += from) {
    transpose(x + c * inner, from, inner, smaller(from, C - c), y + c * inner, inner);
  }
}

// Rows {C} of `from` floats to rows of `to`, the padding written along: vectors of kN, of which the
// last of a part may overlap the one before. Requires: C >= kN, and no padding or kN of it.
template <int kN>
void move_rows(const Reordering& site, const float* x, float* y) {
  const auto [N, C, inner, from, to, bytes] = site;
  for (std::int64_t i = 0; i < inner; ++i, x += from, y += to) {
    std::int64_t c = 0;
    for (; c + kN <= C; c += kN) store<kN>(y + c, load<kN>(x + c));
    if (c < C) store<kN>(y + C - kN, load<kN>(x + C - kN));
    if (C == to) continue;
    for (c = C; c + kN <= to; c += kN) store<kN>(y + c, Floats<kN>{});
    if (c < to) store<kN>(y + to - kN, Floats<kN>{});
  }
}

// All channels in one block on both sides; false where a row is shorter than a vector.
bool between_rows(const Reordering& site, const float* x, float* y) {
  const std::int64_t C = site.C, padding = site.to - C;
  if (C > site.from || padding < 0) return false;
  const auto fits = [=](std::int64_t n) { return C >= n && (padding == 0 || padding >= n); };
  if constexpr (kWidth >= 8) {
    if (fits(8)) return move_rows<8>(site, x, y), true;
  }
  if (fits(4)) return move_rows<4>(site, x, y), true;
  return false;
}

// Runs of channels that stay together in both.
void between_blocks(const Reordering& site, const float* x, float* y) {
  const auto [N, C, inner, from, to, bytes] = site;
  std::int64_t run = 0;
  for (std::int64_t c = 0; c < C; c += run) {
    run = smaller(smaller(from - c % from, to - c % to), C - c);
    const float* source = x + c / from * from * inner + c % from;
    float* target = y + c / to * to * inner + c % to;
    for (std::int64_t i = 0; i < inner; ++i) {
      for (std::int64_t l = 0; l < run; ++l) target[i * to + l] = source[i * from + l];
    }
  }
}

// The channels behind C in the last block of an image.
void clear_padding(const Reordering& site, float* y) {
  const std::int64_t used = site.C % site.to;
  if (used == 0) return;
  float* last = y + site.C / site.to * site.to * site.inner;
  for (std::int64_t i = 0; i < site.inner; ++i) {
    for (std::int64_t l = used; l < site.to; ++l) last[i * site.to + l] = 0.0F;
  }
}

std::int64_t image_elements(const Reordering& site, std::int64_t block) {
  return (site.C + block - 1) / block * block * site.inner;
}

}  // namespace

// x {N, ceil(C / from), inner, from} -> y {N, ceil(C / to), inner, to}; a copy of any element type
// where both are the same
void Reorder(Operands operands, std::byte*, const Numbers& numbers) {
  const Reordering& site = numbers.reordering;
  if (site.from == site.to) {
    std::memcpy(operands[1], operands[0], site.bytes);
    return;
  }
  const float* x = f32(operands, 0);
  float* y = f32(operands, 1);
  const bool blocks = site.from != 1 && site.to != 1;
  const auto move = site.from == 1 ? from_rows : site.to == 1 ? to_rows : between_blocks;
  for (std::int64_t n = 0; n < site.N; ++n) {
    if (!blocks || !between_rows(site, x, y)) {
      move(site, x, y);
      clear_padding(site, y);
    }
    x += image_elements(site, site.from);
    y += image_elements(site, site.to);
  }
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
