// Making columns, and adding them up. Rows are short (5 to 30 elements), so copies are made of few
// wide moves instead of a call.
// SPDX-License-Identifier: Apache-2.0
#include "backends/eigen/kernels/columns.h"

#include <cstring>

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {
namespace {

// Moves of kN floats; the last may overlap the one before. Requires: n >= kN.
template <int kN>
inline void copy_by(const float* x, std::int64_t n, float* y) {
  for (std::int64_t i = 0; i + kN <= n; i += kN) std::memcpy(y + i, x + i, kN * sizeof(float));
  std::memcpy(y + n - kN, x + n - kN, kN * sizeof(float));
}

inline void copy(const float* x, std::int64_t n, float* y) {
  if (n >= 16) return copy_by<16>(x, n, y);
  if (n >= 8) return copy_by<8>(x, n, y);
  if (n >= 4) return copy_by<4>(x, n, y);
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
}

inline void clear(float* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = 0.0F;
}

// One place of the kernel along a row of y: y's elements [begin, end) meet x from `first` on, in
// steps of the stride; the others meet padding.
struct Meeting {
  std::int64_t begin, end, first;
};

// The smallest i >= 0 with i stride + offset >= bound.
std::int64_t first_at_least(std::int64_t bound, std::int64_t offset, std::int64_t stride) {
  return bound <= offset ? 0 : (bound - offset + stride - 1) / stride;
}

Meeting meeting(std::int64_t place, std::int64_t stride, std::int64_t size, std::int64_t out) {
  std::int64_t begin = first_at_least(0, place, stride);
  std::int64_t end = first_at_least(size, place, stride);
  if (end > out) end = out;
  if (begin > end) begin = end;
  return {begin, end, begin * stride + place};
}

// Calls visit(row of x or null, meeting, row of the columns) for each row there is, in order.
template <class Visit>
inline void for_each_row(const Convolution& site, RowsOfY rows, Visit visit) {
  const std::int64_t image_row = site.W, image = site.H * site.W;
  std::int64_t at = 0;
  for (std::int64_t c = 0; c < site.C; ++c) {
    for (std::int64_t kh = 0; kh < site.KH; ++kh) {
      for (std::int64_t kw = 0; kw < site.KW; ++kw) {
        const Meeting along = meeting(kw - site.pad_w, site.stride_w, site.W, site.OW);
        for (std::int64_t oh = rows.begin; oh < rows.end; ++oh, at += site.OW) {
          const std::int64_t h = oh * site.stride_h - site.pad_h + kh;
          const bool inside = h >= 0 && h < site.H;
          visit(inside, c * image + h * image_row + along.first, along, at);
        }
      }
    }
  }
}

// A kernel of stride 1 whose y is as wide as x: a place of it meets a run of x, shifted, that goes
// on from row to row; only at the ends of the rows it meets padding instead of its neighbours.
bool meets_runs(const Convolution& site) {
  return site.stride_h == 1 && site.stride_w == 1 && site.OW == site.W;
}

// Elements [begin, end) of the block's columns meet plane elements from `first` on; in each row
// [0, left) and [right, W) do not.
struct Run {
  std::int64_t begin, end, first, left, right;
};

// Calls visit(run, first element of the plane, of the columns) for each place of the kernel.
template <class Visit>
inline void for_each_run(const Convolution& site, RowsOfY rows, Visit visit) {
  const std::int64_t W = site.W, plane = site.H * W, places = (rows.end - rows.begin) * W;
  std::int64_t at = 0;
  for (std::int64_t c = 0; c < site.C; ++c) {
    for (std::int64_t kh = 0; kh < site.KH; ++kh) {
      for (std::int64_t kw = 0; kw < site.KW; ++kw, at += places) {
        const std::int64_t shift = (rows.begin + kh - site.pad_h) * W + kw - site.pad_w;
        const Meeting run = meeting(shift, 1, plane, places);
        const Meeting along = meeting(kw - site.pad_w, 1, W, W);
        visit(Run{run.begin, run.end, run.first, along.begin, along.end}, c * plane, at);
      }
    }
  }
}

// columns {rows, W} of one place: zeros where a row meets padding.
void clear_ends(const Convolution& site, RowsOfY rows, const Run& run, float* columns) {
  for (std::int64_t row = rows.begin; row < rows.end; ++row, columns += site.W) {
    clear(columns, run.left);
    clear(columns + run.right, site.W - run.right);
  }
}

void make_runs(const Convolution& site, RowsOfY rows, const float* x, float* columns) {
  const std::int64_t places = (rows.end - rows.begin) * site.W;
  for_each_run(site, rows, [&](const Run& run, std::int64_t plane, std::int64_t at) {
    float* of_place = columns + at;
    clear(of_place, run.begin);
    copy(x + plane + run.first, run.end - run.begin, of_place + run.begin);
    clear(of_place + run.end, places - run.end);
    clear_ends(site, rows, run, of_place);
  });
}

// What would go to a neighbour is set to zero first.
void add_runs(const Convolution& site, RowsOfY rows, float* columns, float* dx) {
  for_each_run(site, rows, [&](const Run& run, std::int64_t plane, std::int64_t at) {
    clear_ends(site, rows, run, columns + at);
    const float* from = columns + at + run.begin;
    float* to = dx + plane + run.first;
    const std::int64_t n = run.end - run.begin;
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
  });
}

}  // namespace

void make_columns(const Convolution& site, RowsOfY rows, const float* x, float* columns) {
  if (meets_runs(site)) return make_runs(site, rows, x, columns);
  const std::int64_t OW = site.OW, stride = site.stride_w;
  for_each_row(site, rows, [=](bool inside, std::int64_t from, Meeting along, std::int64_t at) {
    float* row = columns + at;
    if (!inside) return clear(row, OW);
    clear(row, along.begin);
    if (stride == 1) {
      copy(x + from, along.end - along.begin, row + along.begin);
    } else {
      for (std::int64_t i = along.begin; i < along.end; ++i) {
        row[i] = x[from + (i - along.begin) * stride];
      }
    }
    clear(row + along.end, OW - along.end);
  });
}

void add_columns(const Convolution& site, RowsOfY rows, float* columns, float* dx) {
  if (meets_runs(site)) return add_runs(site, rows, columns, dx);
  const std::int64_t stride = site.stride_w;
  for_each_row(site, rows, [=](bool inside, std::int64_t from, Meeting along, std::int64_t at) {
    if (!inside) return;
    const float* row = columns + at + along.begin;
    const std::int64_t n = along.end - along.begin;
    float* to = dx + from;
    if (stride == 1) {
#pragma omp simd
      for (std::int64_t i = 0; i < n; ++i) to[i] += row[i];
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i * stride] += row[i];
    }
  });
}

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
