// MaxPoolGrad, and with the gradient of a Relu in front of it: each element of dy goes to the place
// that won. dx is written whole; where windows overlap, its sums are taken in row-major order of y.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/vector.h"
#include "backends/cpu/kernels/windows.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {
namespace {

enum class Before : bool { nothing, relu };  // whether y <= 0 stops dy

// dy at i, or zero where y is not above zero; a NaN in y lets dy through.
template <int kN, Before kBefore>
Floats<kN> slope_at(const float* dy, const float* y, std::int64_t i) {
  const Floats<kN> slope = load<kN>(dy + i);
  if constexpr (kBefore == Before::nothing) {
    return slope;
  } else {
    const Floats<kN> value = load<kN>(y + i);
    return value <= Floats<kN>{} ? Floats<kN>{} : slope;
  }
}

template <int kN>
Floats<kN> where(Ints<kN> places, std::int32_t place, Floats<kN> slope) {
  return places == Ints<kN>{} + place ? slope : Floats<kN>{};
}

// dy, y, dx and places at the first element of what they are about.
template <class Place>
struct Gradient {
  const float* dy;
  const float* y;  // of Before::relu
  const Place* places;
  float* dx;
};

// One window that no other overlaps: dx the image {H, W, block}; dy, y and places {block}
template <Before kBefore, class Place>
void write_window(const Pool& site, const Window& window, const Gradient<Place>& at) {
  const std::int64_t height = window.bottom - window.top, width = window.right - window.left;
  const std::int64_t W = site.W, block = site.block;
  const auto kernel_w = static_cast<std::int32_t>(site.kernel_w);
  sweep(
      block, [=]<int kN>(std::int64_t c) __attribute__((always_inline)) {
        const Floats<kN> slope = slope_at<kN, kBefore>(at.dy, at.y, c);
        const Ints<kN> winners = load_places<kN>(at.places + c);
        float* begin = at.dx + (window.top * W + window.left) * block + c;
        const auto place = static_cast<std::int32_t>(window.first);
        if (height == 2 && width == 2) {  // most windows: without loops
          store<kN>(begin, where<kN>(winners, place, slope));
          store<kN>(begin + block, where<kN>(winners, place + 1, slope));
          store<kN>(begin + W * block, where<kN>(winners, place + kernel_w, slope));
          store<kN>(begin + (W + 1) * block, where<kN>(winners, place + kernel_w + 1, slope));
          return;
        }
        for (std::int64_t h = 0; h < height; ++h) {
          for (std::int64_t w = 0; w < width; ++w) {
            const auto at_hw = place + static_cast<std::int32_t>(h * kernel_w + w);
            store<kN>(begin + (h * W + w) * block, where<kN>(winners, at_hw, slope));
          }
        }
      });
}

// One window among others: each channel adds to one place.
template <Before kBefore, class Place>
void add_window(const Pool& site, const Window& window, const Gradient<Place>& at) {
  const std::int64_t h0 = window.top - window.first / site.kernel_w;  // of the window with padding
  const std::int64_t w0 = window.left - window.first % site.kernel_w;
  for (std::int64_t c = 0; c < site.block; ++c) {
    const std::int64_t h = h0 + at.places[c] / site.kernel_w;
    const std::int64_t w = w0 + at.places[c] % site.kernel_w;
    at.dx[(h * site.W + w) * site.block + c] += slope_at<1, kBefore>(at.dy, at.y, c);
  }
}

// Windows of 2 x 2 that tile x, blocks of whole vectors: nothing to decide within a row.
template <int kN, Before kBefore, class Place>
void double_blocks(const Pool& site, const Gradient<Place>& at) {
  const std::int64_t block = site.block, row = site.W * block;
  std::int64_t i = 0;
  float* image = at.dx;
  for (std::int64_t p = planes(site); p > 0; --p, image += site.H * row) {
    for (std::int64_t oh = 0; oh < site.OH; ++oh) {
      float* above = image + 2 * oh * row;
      for (std::int64_t ow = 0; ow < site.OW; ++ow, above += 2 * block) {
        for (std::int64_t c = 0; c < block; c += kN, i += kN) {
          const Floats<kN> slope = slope_at<kN, kBefore>(at.dy, at.y, i);
          const Ints<kN> winners = load_places<kN>(at.places + i);
          float* begin = above + c;
          store<kN>(begin, where<kN>(winners, 0, slope));
          store<kN>(begin + block, where<kN>(winners, 1, slope));
          store<kN>(begin + row, where<kN>(winners, 2, slope));
          store<kN>(begin + row + block, where<kN>(winners, 3, slope));
        }
      }
    }
  }
}

template <Before kBefore, class Place>
void in_one_layout(const Pool& site, Gradient<Place> at) {
  const auto by_rows = [&]<int kN>() { double_blocks<kN, kBefore>(site, at); };
  if (halves(site) && in_whole_vectors(site.block, by_rows)) return;
  const bool tiled = tiles(site);
  for (std::int64_t p = planes(site); p > 0; --p) {
    for (std::int64_t oh = 0; oh < site.OH; ++oh) {
      for (std::int64_t ow = 0; ow < site.OW; ++ow) {
        const Window window = window_at(site, oh, ow);
        tiled ? write_window<kBefore>(site, window, at) : add_window<kBefore>(site, window, at);
        at.dy += site.block;
        at.places += site.block;
        if (kBefore == Before::relu) at.y += site.block;
      }
    }
    at.dx += site.H * site.W * site.block;
  }
}

// Where element (n, c, i) of {N, C, inner} lies in blocks of `block` channels.
struct BlockedPlace {
  std::int64_t blocks, inner, block;
  std::int64_t operator()(std::int64_t n, std::int64_t c, std::int64_t i) const {
    return ((n * blocks + c / block) * inner + i) * block + c % block;
  }
};

BlockedPlace blocked(std::int64_t C, std::int64_t inner, std::int64_t block) {
  return {(C + block - 1) / block, inner, block};
}

// dy in another layout than y had: element by element. Rare, since a plan keeps both in one.
template <Before kBefore, class Place>
void in_two_layouts(const Pool& site, std::int64_t block_of_y, const Gradient<Place>& at) {
  const BlockedPlace dy_at = blocked(site.C, site.OH * site.OW, site.block);
  const BlockedPlace place_at = blocked(site.C, site.OH * site.OW, block_of_y);
  const BlockedPlace dx_at = blocked(site.C, site.H * site.W, site.block);
  for (std::int64_t n = 0; n < site.N; ++n) {
    for (std::int64_t c = 0; c < site.C; ++c) {
      for (std::int64_t i = 0; i < site.OH * site.OW; ++i) {
        const std::int64_t place = at.places[place_at(n, c, i)];
        const std::int64_t h = i / site.OW * site.stride_h - site.pad_h + place / site.kernel_w;
        const std::int64_t w = i % site.OW * site.stride_w - site.pad_w + place % site.kernel_w;
        at.dx[dx_at(n, c, h * site.W + w)] += slope_at<1, kBefore>(at.dy, at.y, dy_at(n, c, i));
      }
    }
  }
}

// dy, saved[, y] -> dx
template <Before kBefore, class Place>
Gradient<Place> gradient_of(Operands operands) {
  const bool relu = kBefore == Before::relu;
  return {f32(operands, 0), relu ? f32(operands, 2) : nullptr,
          reinterpret_cast<const Place*>(operands[1] + kWinnersHeader),
          f32(operands, relu ? 3 : 2)};
}

template <Before kBefore, class Place>
void max_pool_grad(Operands operands, const Pool& site) {
  const auto gradient = gradient_of<kBefore, Place>(operands);
  const std::int64_t block_of_y = block_of_winners(operands[1]);
  if (block_of_y == site.block) {
    clear_unless_tiled(site, gradient.dx);
    return in_one_layout<kBefore>(site, gradient);
  }
  const std::int64_t elements = planes(site) * site.H * site.W * site.block;
  std::memset(gradient.dx, 0, static_cast<std::size_t>(elements) * sizeof(float));
  in_two_layouts<kBefore>(site, block_of_y, gradient);
}

// One row of dy {OW} to the rows above and below {2 OW or more}
template <Before kBefore>
void double_row(const Gradient<std::uint8_t>& at, std::int64_t OW, float* above, float* below) {
  sweep(
      OW, [=]<int kN>(std::int64_t ow) __attribute__((always_inline)) {
        const Floats<kN> slope = slope_at<kN, kBefore>(at.dy, at.y, ow);
        const Ints<kN> winners = load_places<kN>(at.places + ow);
        Floats<kN> at_place[4];
        for (int p = 0; p < 4; ++p) at_place[p] = where<kN>(winners, p, slope);
        const auto write = [&at_place, ow](float* row, int p) {
          if constexpr (kN == 1) {
            row[2 * ow] = at_place[p];
            row[2 * ow + 1] = at_place[p + 1];
          } else {
            store<kN>(row + 2 * ow, zip_low<kN>(at_place[p], at_place[p + 1]));
            store<kN>(row + 2 * ow + kN, zip_high<kN>(at_place[p], at_place[p + 1]));
          }
        };
        write(above, 0);
        write(below, 2);
      });
}

template <Before kBefore>
void max_pool_grad_halving(Operands operands, const Pool& site) {
  if (block_of_winners(operands[1]) != 1) {
    return max_pool_grad<kBefore, std::uint8_t>(operands, site);
  }
  auto at = gradient_of<kBefore, std::uint8_t>(operands);
  const std::int64_t W = site.W, OW = site.OW;
  clear_unless_tiled(site, at.dx);
  for (std::int64_t p = planes(site); p > 0; --p, at.dx += site.H * W) {
    for (std::int64_t oh = 0; oh < site.OH; ++oh, at.dy += OW, at.places += OW) {
      double_row<kBefore>(at, OW, at.dx + 2 * oh * W, at.dx + (2 * oh + 1) * W);
      if (kBefore == Before::relu) at.y += OW;
    }
  }
}

}  // namespace

// dy {planes, OH, OW, block}, saved -> dx {planes, H, W, block}
void MaxPoolGrad(Operands operands, std::byte*, const Numbers& numbers) {
  max_pool_grad<Before::nothing, std::uint8_t>(operands, numbers.pool);
}

void MaxPoolGradWide(Operands operands, std::byte*, const Numbers& numbers) {
  max_pool_grad<Before::nothing, std::int32_t>(operands, numbers.pool);
}

void MaxPoolGradHalving(Operands operands, std::byte*, const Numbers& numbers) {
  max_pool_grad_halving<Before::nothing>(operands, numbers.pool);
}

// dy, saved, y -> dx
void MaxPoolReluGrad(Operands operands, std::byte*, const Numbers& numbers) {
  max_pool_grad<Before::relu, std::uint8_t>(operands, numbers.pool);
}

void MaxPoolReluGradWide(Operands operands, std::byte*, const Numbers& numbers) {
  max_pool_grad<Before::relu, std::int32_t>(operands, numbers.pool);
}

void MaxPoolReluGradHalving(Operands operands, std::byte*, const Numbers& numbers) {
  max_pool_grad_halving<Before::relu>(operands, numbers.pool);
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
