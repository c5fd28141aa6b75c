// MaxPool and AvgPool with their gradients. x {N, C, H, W}, y {N, C, OH, OW}.
// MaxPool saves for each element of y where in its plane of x the winner is: h * W + w, as i32.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "backends/reference/functions.h"
#include "backends/reference/kernel.h"

namespace stepscope::reference {
namespace {

struct Range {
  std::int64_t first, last;
};

// One axis: `size` places of x, `outputs` places of y, each a window over x.
struct Axis {
  std::int64_t size, outputs, kernel, stride, pad;

  // Places of x under window o; the padding is left out.
  Range window(std::int64_t o) const {
    const std::int64_t first = o * stride - pad;
    return {std::max<std::int64_t>(0, first), std::min(size, first + kernel)};
  }
  // Windows over place i.
  Range windows_over(std::int64_t i) const {
    const std::int64_t before = i + pad - kernel;  // the last place where a window would end early
    return {before < 0 ? 0 : before / stride + 1, std::min(outputs, (i + pad) / stride + 1)};
  }
};

struct Geometry {
  std::int64_t planes;  // N C
  Axis h, w;

  std::int64_t x_plane() const { return h.size * w.size; }
  std::int64_t y_plane() const { return h.outputs * w.outputs; }
  double window_size() const { return static_cast<double>(h.kernel * w.kernel); }
};

template <class A>
Geometry geometry(const Shape& x, const Shape& y, const A& settings) {
  return {x[0] * x[1],
          {x[2], y[2], settings.kernel_h, settings.stride_h, settings.pad_h},
          {x[3], y[3], settings.kernel_w, settings.stride_w, settings.pad_w}};
}

// The first largest in row-major order; a NaN counts as largest.
template <class T>
std::int64_t winner(const Geometry& g, const T* plane, Range rows, Range columns) {
  std::int64_t best = rows.first * g.w.size + columns.first;
  for (std::int64_t h = rows.first; h < rows.last; ++h) {
    for (std::int64_t w = columns.first; w < columns.last; ++w) {
      const std::int64_t at = h * g.w.size + w;
      if (std::isnan(plane[best])) return best;
      if (plane[at] > plane[best] || std::isnan(plane[at])) best = at;
    }
  }
  return best;
}

// store(index into y, plane, rows, columns) for each window.
template <class Visit>
void each_window(const Geometry& g, Visit visit) {
  for (std::int64_t i = 0; i < g.planes * g.y_plane(); ++i) {
    visit(i, i / g.y_plane(), g.h.window(i / g.w.outputs % g.h.outputs),
          g.w.window(i % g.w.outputs));
  }
}

// dx(place) = sum of slope(index into y, place in its plane of x) over the windows over the place,
// in row-major order of y.
template <class T, class Slope>
void sum_windows(const Geometry& g, T* dx, Slope slope) {
  for (std::int64_t i = 0; i < g.planes * g.x_plane(); ++i) {
    const std::int64_t plane = i / g.x_plane();
    const std::int64_t place = i % g.x_plane();
    const Range rows = g.h.windows_over(place / g.w.size);
    const Range columns = g.w.windows_over(place % g.w.size);
    double sum = 0.0;
    for (std::int64_t oh = rows.first; oh < rows.last; ++oh) {
      for (std::int64_t ow = columns.first; ow < columns.last; ++ow) {
        sum += slope(plane * g.y_plane() + oh * g.w.outputs + ow, place);
      }
    }
    dx[i] = static_cast<T>(sum);
  }
}

}  // namespace

// x -> y, saved
template <class T>
void MaxPool(const Call<T>& call) {
  const Geometry g =
      geometry(call.in_shape(0), call.out_shape(0), call.template attrs<Pool2dAttrs>());
  const T* x = call.in(0);
  each_window(g, [&](std::int64_t i, std::int64_t plane, Range rows, Range columns) {
    const T* from = x + plane * g.x_plane();
    const std::int64_t best = winner(g, from, rows, columns);
    call.out(0)[i] = from[best];
    call.out_i32(1)[i] = static_cast<std::int32_t>(best);
  });
}
STEPSCOPE_REFERENCE_KERNEL(MaxPool)

// dy, saved -> dx
template <class T>
void MaxPoolGrad(const Call<T>& call) {
  const Geometry g =
      geometry(call.out_shape(0), call.in_shape(0), call.template attrs<Pool2dGradAttrs>());
  const T* dy = call.in(0);
  const std::int32_t* winners = call.in_i32(1);
  sum_windows(g, call.out(0), [&](std::int64_t i, std::int64_t place) {
    return winners[i] == place ? double{dy[i]} : 0.0;
  });
}
STEPSCOPE_REFERENCE_KERNEL(MaxPoolGrad)

// dy, saved, y as dy -> dx, of what relu lets through
template <class T>
void MaxPoolReluGrad(const Call<T>& call) {
  const Geometry g =
      geometry(call.out_shape(0), call.in_shape(0), call.template attrs<Pool2dGradAttrs>());
  const T* dy = call.in(0);
  const std::int32_t* winners = call.in_i32(1);
  const T* y = call.in(2);
  sum_windows(g, call.out(0), [&](std::int64_t i, std::int64_t place) {
    return winners[i] == place ? relu_grad(dy[i], y[i]) : 0.0;
  });
}
STEPSCOPE_REFERENCE_KERNEL(MaxPoolReluGrad)

// x -> y; the padding counts as zeros
template <class T>
void AvgPool(const Call<T>& call) {
  const Geometry g =
      geometry(call.in_shape(0), call.out_shape(0), call.template attrs<Pool2dAttrs>());
  const T* x = call.in(0);
  each_window(g, [&](std::int64_t i, std::int64_t plane, Range rows, Range columns) {
    double sum = 0.0;
    for (std::int64_t h = rows.first; h < rows.last; ++h) {
      for (std::int64_t w = columns.first; w < columns.last; ++w) {
        sum += double{x[plane * g.x_plane() + h * g.w.size + w]};
      }
    }
    call.out(0)[i] = static_cast<T>(sum / g.window_size());
  });
}
STEPSCOPE_REFERENCE_KERNEL(AvgPool)

// dy -> dx
template <class T>
void AvgPoolGrad(const Call<T>& call) {
  const Geometry g =
      geometry(call.out_shape(0), call.in_shape(0), call.template attrs<Pool2dGradAttrs>());
  const T* dy = call.in(0);
  sum_windows(g, call.out(0),
              [&](std::int64_t i, std::int64_t) { return double{dy[i]} / g.window_size(); });
}
STEPSCOPE_REFERENCE_KERNEL(AvgPoolGrad)

}  // namespace stepscope::reference
