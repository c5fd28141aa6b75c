// Conv2d, its gradients and what is fused around them. Cross-correlation with zero padding: terms
// in the padding are left out. x {N, C, H, W}, w {O, C, KH, KW}, y {N, O, OH, OW}.
//
// Sums of a row's neighbours are kept side by side, so that the innermost loops run along rows;
// each is added up in row-major order of what is summed over.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backends/reference/functions.h"
#include "backends/reference/kernel.h"
#include "backends/reference/sums.h"

namespace stepscope::reference {
namespace {

struct Geometry {
  std::int64_t N, C, H, W, O, KH, KW, OH, OW;
  std::int64_t stride_h, stride_w, pad_h, pad_w;
};

template <class A>
Geometry geometry(const Shape& x, const Shape& w, const Shape& y, const A& settings) {
  return {.N = x[0],
          .C = x[1],
          .H = x[2],
          .W = x[3],
          .O = w[0],
          .KH = w[2],
          .KW = w[3],
          .OH = y[2],
          .OW = y[3],
          .stride_h = settings.stride_h,
          .stride_w = settings.stride_w,
          .pad_h = settings.pad_h,
          .pad_w = settings.pad_w};
}

// Those outputs o of `outputs` in [first, last) for which o * stride + shift is in [low, high).
struct Range {
  std::int64_t first, last;
};
Range outputs_within(std::int64_t low, std::int64_t high, std::int64_t shift, std::int64_t stride,
                     Range outputs) {
  const auto first_at = [&](std::int64_t place) {
    return place <= shift ? 0 : (place - shift + stride - 1) / stride;
  };
  return {std::max(outputs.first, first_at(low)), std::min(outputs.last, first_at(high))};
}

// Adds to sums[j] the terms of y(n, o, oh, first + j), j < count.
template <class T>
void add_to_outputs(const Geometry& g, const T* x, const T* w, std::int64_t oh, Range columns,
                    Sums& sums) {
  for (std::int64_t c = 0; c < g.C; ++c) {
    for (std::int64_t kh = 0; kh < g.KH; ++kh) {
      const std::int64_t h = oh * g.stride_h + kh - g.pad_h;
      if (h < 0 || h >= g.H) continue;
      const T* row = x + (c * g.H + h) * g.W;
      for (std::int64_t kw = 0; kw < g.KW; ++kw) {
        const double weight = w[(c * g.KH + kh) * g.KW + kw];
        const std::int64_t shift = kw - g.pad_w;
        const Range range = outputs_within(0, g.W, shift, g.stride_w, columns);
        for (std::int64_t ow = range.first; ow < range.last; ++ow) {
          sums[static_cast<std::size_t>(ow - columns.first)] +=
              weight * double{row[ow * g.stride_w + shift]};
        }
      }
    }
  }
}

// store(index into y, o, sum)
template <class T, class Store>
void convolve(const Geometry& g, const T* x, const T* w, Store store) {
  for (std::int64_t row = 0; row < g.N * g.O * g.OH; ++row) {
    const std::int64_t n = row / (g.O * g.OH);
    const std::int64_t o = row / g.OH % g.O;
    for (std::int64_t first = 0; first < g.OW; first += kSums) {
      const Range columns{first, std::min(g.OW, first + kSums)};
      Sums sums{};
      add_to_outputs(g, x + n * g.C * g.H * g.W, w + o * g.C * g.KH * g.KW, row % g.OH, columns,
                     sums);
      for (std::int64_t ow = columns.first; ow < columns.last; ++ow) {
        store(row * g.OW + ow, o, sums[static_cast<std::size_t>(ow - first)]);
      }
    }
  }
}

// Adds to sums[j] the terms of dx(n, c, h, first + j); w from its channel c on.
template <class T>
void add_to_inputs(const Geometry& g, const T* dy, const T* w, std::int64_t h, Range columns,
                   Sums& sums) {
  for (std::int64_t o = 0; o < g.O; ++o) {
    for (std::int64_t kh = 0; kh < g.KH; ++kh) {
      const std::int64_t reach = h + g.pad_h - kh;
      if (reach < 0 || reach % g.stride_h != 0 || reach / g.stride_h >= g.OH) continue;
      const T* row = dy + (o * g.OH + reach / g.stride_h) * g.OW;
      for (std::int64_t kw = 0; kw < g.KW; ++kw) {
        const double weight = w[(o * g.C * g.KH + kh) * g.KW + kw];
        const std::int64_t shift = kw - g.pad_w;
        const Range range =
            outputs_within(columns.first, columns.last, shift, g.stride_w, {0, g.OW});
        for (std::int64_t ow = range.first; ow < range.last; ++ow) {
          sums[static_cast<std::size_t>(ow * g.stride_w + shift - columns.first)] +=
              weight * double{row[ow]};
        }
      }
    }
  }
}

// store(index into dx, sum)
template <class T, class Store>
void convolve_back(const Geometry& g, const T* dy, const T* w, Store store) {
  for (std::int64_t row = 0; row < g.N * g.C * g.H; ++row) {
    const std::int64_t n = row / (g.C * g.H);
    const std::int64_t c = row / g.H % g.C;
    for (std::int64_t first = 0; first < g.W; first += kSums) {
      const Range columns{first, std::min(g.W, first + kSums)};
      Sums sums{};
      add_to_inputs(g, dy + n * g.O * g.OH * g.OW, w + c * g.KH * g.KW, row % g.H, columns, sums);
      for (std::int64_t column = columns.first; column < columns.last; ++column) {
        store(row * g.W + column, sums[static_cast<std::size_t>(column - first)]);
      }
    }
  }
}

// dw(o, c, kh, kw)
template <class T>
double weight_slope(const Geometry& g, const T* x, const T* dy, std::int64_t o, std::int64_t c,
                    std::int64_t kh, std::int64_t kw) {
  const Range rows = outputs_within(0, g.H, kh - g.pad_h, g.stride_h, {0, g.OH});
  const Range columns = outputs_within(0, g.W, kw - g.pad_w, g.stride_w, {0, g.OW});
  double sum = 0.0;
  for (std::int64_t n = 0; n < g.N; ++n) {
    for (std::int64_t oh = rows.first; oh < rows.last; ++oh) {
      const std::int64_t h = oh * g.stride_h + kh - g.pad_h;
      const T* from = x + ((n * g.C + c) * g.H + h) * g.W;
      const T* slope = dy + ((n * g.O + o) * g.OH + oh) * g.OW;
      for (std::int64_t ow = columns.first; ow < columns.last; ++ow) {
        sum += double{from[ow * g.stride_w + kw - g.pad_w]} * double{slope[ow]};
      }
    }
  }
  return sum;
}

// store(index into dw, sum)
template <class T, class Store>
void convolve_weights(const Geometry& g, const T* x, const T* dy, Store store) {
  for (std::int64_t i = 0; i < g.O * g.C * g.KH * g.KW; ++i) {
    store(i, weight_slope(g, x, dy, i / (g.C * g.KH * g.KW), i / (g.KH * g.KW) % g.C,
                          i / g.KW % g.KH, i % g.KW));
  }
}

template <class T>
void sum_slopes(const Geometry& g, const T* dy, T* db) {
  sum_channels(dy, g.N, g.O, g.OH * g.OW, db);
}

}  // namespace

// x, w -> y
template <class T>
void Conv2d(const Call<T>& call) {
  const Geometry g = geometry(call.in_shape(0), call.in_shape(1), call.out_shape(0),
                              call.template attrs<Conv2dAttrs>());
  T* y = call.out(0);
  convolve(g, call.in(0), call.in(1),
           [y](std::int64_t i, std::int64_t, double sum) { y[i] = static_cast<T>(sum); });
}
STEPSCOPE_REFERENCE_KERNEL(Conv2d)

// x, w, b {O} -> y
template <class T>
void Conv2dBias(const Call<T>& call) {
  const auto& settings = call.template attrs<Conv2dAttrs>();
  const Geometry g = geometry(call.in_shape(0), call.in_shape(1), call.out_shape(0), settings);
  const T* bias = call.in(2);
  T* y = call.out(0);
  convolve(g, call.in(0), call.in(1), [&](std::int64_t i, std::int64_t o, double sum) {
    y[i] = static_cast<T>(activate(settings.activation, sum + double{bias[o]}));
  });
}
STEPSCOPE_REFERENCE_KERNEL(Conv2dBias)

// dy, w -> dx
template <class T>
void Conv2dInputGrad(const Call<T>& call) {
  const Geometry g = geometry(call.out_shape(0), call.in_shape(1), call.in_shape(0),
                              call.template attrs<Conv2dGradAttrs>());
  T* dx = call.out(0);
  convolve_back(g, call.in(0), call.in(1),
                [dx](std::int64_t i, double sum) { dx[i] = static_cast<T>(sum); });
}
STEPSCOPE_REFERENCE_KERNEL(Conv2dInputGrad)

// dy, w, y as dx -> dx, gone through relu
template <class T>
void Conv2dInputReluGrad(const Call<T>& call) {
  const Geometry g = geometry(call.out_shape(0), call.in_shape(1), call.in_shape(0),
                              call.template attrs<Conv2dGradAttrs>());
  const T* y = call.in(2);
  T* dx = call.out(0);
  convolve_back(g, call.in(0), call.in(1),
                [&](std::int64_t i, double sum) { dx[i] = static_cast<T>(relu_grad(sum, y[i])); });
}
STEPSCOPE_REFERENCE_KERNEL(Conv2dInputReluGrad)

// x, dy -> dw
template <class T>
void Conv2dWeightGrad(const Call<T>& call) {
  const Geometry g = geometry(call.in_shape(0), call.out_shape(0), call.in_shape(1),
                              call.template attrs<Conv2dGradAttrs>());
  T* dw = call.out(0);
  convolve_weights(g, call.in(0), call.in(1),
                   [dw](std::int64_t i, double sum) { dw[i] = static_cast<T>(sum); });
}
STEPSCOPE_REFERENCE_KERNEL(Conv2dWeightGrad)

// x, dy -> dw, db {O}
template <class T>
void Conv2dWeightBiasGrad(const Call<T>& call) {
  Conv2dWeightGrad(call);
  const Geometry g = geometry(call.in_shape(0), call.out_shape(0), call.in_shape(1),
                              call.template attrs<Conv2dGradAttrs>());
  sum_slopes(g, call.in(1), call.out(1));
}
STEPSCOPE_REFERENCE_KERNEL(Conv2dWeightBiasGrad)

// W, x, dy -> W - dw, in place[, db {O}]
template <class T>
void Conv2dWeightUpdate(const Call<T>& call) {
  const auto& settings = call.template attrs<Conv2dUpdateAttrs>();
  const Geometry g = geometry(call.in_shape(1), call.in_shape(0), call.in_shape(2), settings);
  T* w = call.out(0);
  convolve_weights(g, call.in(1), call.in(2),
                   [w](std::int64_t i, double sum) { w[i] = static_cast<T>(double{w[i]} - sum); });
  if (settings.bias_grad) sum_slopes(g, call.in(2), call.out(1));
}
STEPSCOPE_REFERENCE_KERNEL(Conv2dWeightUpdate)

}  // namespace stepscope::reference
