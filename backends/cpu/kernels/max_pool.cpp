// MaxPool: the first largest element of a window in row-major order wins; a NaN counts as largest;
// padding never wins.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/vector.h"
#include "backends/cpu/kernels/windows.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {
namespace {

void write_header(std::byte* saved, const Pool& site) {
  std::memset(saved, 0, kWinnersHeader);
  const Winners header{site.block};
  std::memcpy(saved, &header, sizeof header);
}

// The largest so far and its place, in each lane.
template <int kN>
struct Best {
  Floats<kN> value;
  Ints<kN> place;

  void meet(Floats<kN> x, std::int32_t at) {
    if constexpr (kN == 1) {
      if (!(x <= value) && value == value) {
        value = x;
        place = at;
      }
    } else {
      const Ints<kN> wins = ~(x <= value) & (value == value);
      value = wins ? x : value;
      place = wins ? Ints<kN>{} + at : place;
    }
  }
};

// One window: x the image {H, W, block}, y {block}, places {block}
template <class Place>
void take_largest(const Pool& site, const Window& window, const float* x, float* y, Place* places) {
  const std::int64_t height = window.bottom - window.top, width = window.right - window.left;
  const std::int64_t W = site.W, block = site.block;
  const auto kernel_w = static_cast<std::int32_t>(site.kernel_w);
  sweep(
      block, [=]<int kN>(std::int64_t c) __attribute__((always_inline)) {
        const float* begin = x + (window.top * W + window.left) * block + c;
        const auto place = static_cast<std::int32_t>(window.first);
        Best<kN> best{load<kN>(begin), Ints<kN>{} + place};
        if (height == 2 && width == 2) {  // most windows: without loops
          best.meet(load<kN>(begin + block), place + 1);
          best.meet(load<kN>(begin + W * block), place + kernel_w);
          best.meet(load<kN>(begin + (W + 1) * block), place + kernel_w + 1);
        } else {
          for (std::int64_t h = 0; h < height; ++h) {
            for (std::int64_t w = 0; w < width; ++w) {
              best.meet(load<kN>(begin + (h * W + w) * block),
                        place + static_cast<std::int32_t>(h * kernel_w + w));
            }
          }
        }
        store<kN>(y + c, best.value);
        store_places<kN>(places + c, best.place);
      });
}

// Windows of 2 x 2 that tile x, blocks of whole vectors: nothing to decide within a row.
template <int kN, class Place>
void halve_blocks(const Pool& site, const float* x, float* y, Place* places) {
  const std::int64_t block = site.block, row = site.W * block;
  for (std::int64_t p = planes(site); p > 0; --p, x += site.H * row) {
    for (std::int64_t oh = 0; oh < site.OH; ++oh) {
      const float* above = x + 2 * oh * row;
      for (std::int64_t ow = 0; ow < site.OW; ++ow, above += 2 * block) {
        for (std::int64_t c = 0; c < block; c += kN, y += kN, places += kN) {
          const float* begin = above + c;
          Best<kN> best{load<kN>(begin), Ints<kN>{}};
          best.meet(load<kN>(begin + block), 1);
          best.meet(load<kN>(begin + row), 2);
          best.meet(load<kN>(begin + row + block), 3);
          store<kN>(y, best.value);
          store_places<kN>(places, best.place);
        }
      }
    }
  }
}

template <class Place>
void max_pool(Operands operands, const Pool& site) {
  const float* x = f32(operands, 0);
  float* y = f32(operands, 1);
  write_header(operands[2], site);
  auto* places = reinterpret_cast<Place*>(operands[2] + kWinnersHeader);
  const std::int64_t block = site.block;
  const auto by_rows = [&]<int kN>() { halve_blocks<kN>(site, x, y, places); };
  if (halves(site) && in_whole_vectors(block, by_rows)) return;
  for (std::int64_t p = planes(site); p > 0; --p, x += site.H * site.W * block) {
    for (std::int64_t oh = 0; oh < site.OH; ++oh) {
      for (std::int64_t ow = 0; ow < site.OW; ++ow, y += block, places += block) {
        take_largest(site, window_at(site, oh, ow), x, y, places);
      }
    }
  }
}

// One row of y {OW} of the rows above and below {2 OW or more}
void halve_row(const float* above, const float* below, std::int64_t OW, float* y,
               std::uint8_t* places) {
  sweep(
      OW, [=]<int kN>(std::int64_t ow) __attribute__((always_inline)) {
        const float* a = above + 2 * ow;
        const float* b = below + 2 * ow;
        if constexpr (kN == 1) {
          Best<1> best{a[0], 0};
          best.meet(a[1], 1);
          best.meet(b[0], 2);
          best.meet(b[1], 3);
          y[ow] = best.value;
          places[ow] = static_cast<std::uint8_t>(best.place);
        } else {
          const Floats<kN> a_low = load<kN>(a), a_high = load<kN>(a + kN);
          const Floats<kN> b_low = load<kN>(b), b_high = load<kN>(b + kN);
          Best<kN> best{even<kN>(a_low, a_high), Ints<kN>{}};
          best.meet(odd<kN>(a_low, a_high), 1);
          best.meet(even<kN>(b_low, b_high), 2);
          best.meet(odd<kN>(b_low, b_high), 3);
          store<kN>(y + ow, best.value);
          store_places<kN>(places + ow, best.place);
        }
      });
}

}  // namespace

// x {planes, H, W, block} -> y {planes, OH, OW, block}, saved; windows of at most 256 places
void MaxPool(Operands operands, std::byte*, const Numbers& numbers) {
  max_pool<std::uint8_t>(operands, numbers.pool);
}

// The same for larger windows.
void MaxPoolWide(Operands operands, std::byte*, const Numbers& numbers) {
  max_pool<std::int32_t>(operands, numbers.pool);
}

// The same for row-major x and windows of 2 x 2 that tile it: vectors along the row.
void MaxPoolHalving(Operands operands, std::byte*, const Numbers& numbers) {
  const Pool& site = numbers.pool;
  const float* x = f32(operands, 0);
  float* y = f32(operands, 1);
  write_header(operands[2], site);
  auto* places = reinterpret_cast<std::uint8_t*>(operands[2] + kWinnersHeader);
  const std::int64_t W = site.W, OW = site.OW;
  for (std::int64_t p = planes(site); p > 0; --p, x += site.H * W) {
    for (std::int64_t oh = 0; oh < site.OH; ++oh, y += OW, places += OW) {
      halve_row(x + 2 * oh * W, x + (2 * oh + 1) * W, OW, y, places);
    }
  }
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
