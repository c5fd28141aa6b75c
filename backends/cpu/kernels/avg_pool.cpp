// AvgPool and its gradient. Padding counts as zeros and the divisor is always the size of the
// window, so that a sum is multiplied by one number, rounded once: the same for every window.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/vector.h"
#include "backends/cpu/kernels/windows.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {
namespace {

float share(const Pool& site) {
  return static_cast<float>(1.0 / static_cast<double>(site.kernel_h * site.kernel_w));
}

// One window: x the image {H, W, block}, y {block}; added in row-major order
void average(const Pool& site, const Window& window, const float* x, float factor, float* y) {
  const std::int64_t W = site.W, block = site.block;
  sweep(
      block, [=]<int kN>(std::int64_t c) __attribute__((always_inline)) {
        Floats<kN> sum{};
        for (std::int64_t h = window.top; h < window.bottom; ++h) {
          for (std::int64_t w = window.left; w < window.right; ++w) {
            sum += load<kN>(x + (h * W + w) * block + c);
          }
        }
        store<kN>(y + c, sum * factor);
      });
}

// One row of y {OW} of the rows above and below {2 OW or more}; added in the same order
void average_row(const float* above, const float* below, std::int64_t OW, float* y) {
  sweep(
      OW, [=]<int kN>(std::int64_t ow) __attribute__((always_inline)) {
        const float* a = above + 2 * ow;
        const float* b = below + 2 * ow;
        if constexpr (kN == 1) {
          y[ow] = (a[0] + a[1] + b[0] + b[1]) * 0.25F;
        } else {
          const Floats<kN> a_low = load<kN>(a), a_high = load<kN>(a + kN);
          const Floats<kN> b_low = load<kN>(b), b_high = load<kN>(b + kN);
          const Floats<kN> sum = even<kN>(a_low, a_high) + odd<kN>(a_low, a_high) +
                                 even<kN>(b_low, b_high) + odd<kN>(b_low, b_high);
          store<kN>(y + ow, sum * 0.25F);
        }
      });
}

// One window that no other overlaps: dx the image {H, W, block}, dy {block}
void write_window(const Pool& site, const Window& window, const float* dy, float factor,
                  float* dx) {
  const std::int64_t W = site.W, block = site.block;
  sweep(
      block, [=]<int kN>(std::int64_t c) __attribute__((always_inline)) {
        const Floats<kN> slope = load<kN>(dy + c) * factor;
        for (std::int64_t h = window.top; h < window.bottom; ++h) {
          for (std::int64_t w = window.left; w < window.right; ++w) {
            store<kN>(dx + (h * W + w) * block + c, slope);
          }
        }
      });
}

// One window among others.
void add_window(const Pool& site, const Window& window, const float* dy, float factor, float* dx) {
  const std::int64_t block = site.block;
  for (std::int64_t h = window.top; h < window.bottom; ++h) {
    for (std::int64_t w = window.left; w < window.right; ++w) {
      float* at = dx + (h * site.W + w) * block;
#pragma omp simd
      for (std::int64_t c = 0; c < block; ++c) at[c] += dy[c] * factor;
    }
  }
}

// One row of dy {OW} to the rows above and below {2 OW or more}
void spread_row(const float* dy, std::int64_t OW, float* above, float* below) {
  sweep(
      OW, [=]<int kN>(std::int64_t ow) __attribute__((always_inline)) {
        const Floats<kN> slope = load<kN>(dy + ow) * 0.25F;
        float* const rows[] = {above + 2 * ow, below + 2 * ow};
        for (float* row : rows) {
          if constexpr (kN == 1) {
            row[0] = slope;
            row[1] = slope;
          } else {
            store<kN>(row, zip_low<kN>(slope, slope));
            store<kN>(row + kN, zip_high<kN>(slope, slope));
          }
        }
      });
}

}  // namespace

// x {planes, H, W, block} -> y {planes, OH, OW, block}
void AvgPool(Operands operands, std::byte*, const Numbers& numbers) {
  const Pool& site = numbers.pool;
  const float* x = f32(operands, 0);
  float* y = f32(operands, 1);
  const float factor = share(site);
  for (std::int64_t p = planes(site); p > 0; --p, x += site.H * site.W * site.block) {
    for (std::int64_t oh = 0; oh < site.OH; ++oh) {
      for (std::int64_t ow = 0; ow < site.OW; ++ow, y += site.block) {
        average(site, window_at(site, oh, ow), x, factor, y);
      }
    }
  }
}

// The same for row-major x and windows of 2 x 2 that tile it: vectors along the row.
void AvgPoolHalving(Operands operands, std::byte*, const Numbers& numbers) {
  const Pool& site = numbers.pool;
  const float* x = f32(operands, 0);
  float* y = f32(operands, 1);
  const std::int64_t W = site.W, OW = site.OW;
  for (std::int64_t p = planes(site); p > 0; --p, x += site.H * W) {
    for (std::int64_t oh = 0; oh < site.OH; ++oh, y += OW) {
      average_row(x + 2 * oh * W, x + (2 * oh + 1) * W, OW, y);
    }
  }
}

// dy {planes, OH, OW, block} -> dx {planes, H, W, block}, summed in row-major order of dy
void AvgPoolGrad(Operands operands, std::byte*, const Numbers& numbers) {
  const Pool& site = numbers.pool;
  const float* dy = f32(operands, 0);
  float* dx = f32(operands, 1);
  const float factor = share(site);
  const bool tiled = tiles(site);
  clear_unless_tiled(site, dx);
  for (std::int64_t p = planes(site); p > 0; --p, dx += site.H * site.W * site.block) {
    for (std::int64_t oh = 0; oh < site.OH; ++oh) {
      for (std::int64_t ow = 0; ow < site.OW; ++ow, dy += site.block) {
        const Window window = window_at(site, oh, ow);
        tiled ? write_window(site, window, dy, factor, dx)
              : add_window(site, window, dy, factor, dx);
      }
    }
  }
}

void AvgPoolGradHalving(Operands operands, std::byte*, const Numbers& numbers) {
  const Pool& site = numbers.pool;
  const float* dy = f32(operands, 0);
  float* dx = f32(operands, 1);
  const std::int64_t W = site.W, OW = site.OW;
  clear_unless_tiled(site, dx);
  for (std::int64_t p = planes(site); p > 0; --p, dx += site.H * W) {
    for (std::int64_t oh = 0; oh < site.OH; ++oh, dy += OW) {
      spread_row(dy, OW, dx + 2 * oh * W, dx + (2 * oh + 1) * W);
    }
  }
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
