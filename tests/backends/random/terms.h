// Which terms an element of an output sums up: what bounds and exactness of sums are made from.
// Indices are those of dense row-major elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>

#include "ops/ir/graph.h"

namespace stepscope::test {

// Elements behind `axis`, that axis left out or not.
inline std::int64_t elements_from(const Shape& shape, std::size_t axis) {
  std::int64_t elements = 1;
  for (std::size_t i = axis; i < shape.rank(); ++i) elements *= shape[i];
  return elements;
}

// out {M, N} = a {M, K} b {K, N}, stored as the attributes say.
template <class ProductAttrs, class Visit>
void each_matmul_term(const ProductAttrs& attrs, const Shape& a, const Shape& out, Visit&& visit) {
  const std::int64_t M = out[0], N = out[1], K = a[attrs.transpose_a ? 0 : 1];
  for (std::int64_t m = 0; m < M; ++m) {
    for (std::int64_t n = 0; n < N; ++n) {
      for (std::int64_t k = 0; k < K; ++k) {
        visit(static_cast<std::size_t>(m * N + n),
              static_cast<std::size_t>(attrs.transpose_a ? k * M + m : m * K + k),
              static_cast<std::size_t>(attrs.transpose_b ? n * K + k : k * N + n));
      }
    }
  }
}

// Places that meet in a convolution: visit(of x, of w, of y).
template <class ConvAttrs, class Visit>
void each_convolution_term(const ConvAttrs& attrs, const Shape& x, const Shape& w, const Shape& y,
                           Visit&& visit) {
  const std::int64_t C = x[1], H = x[2], W = x[3], KH = w[2], KW = w[3];
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    const std::int64_t ow = i % y[3], oh = i / y[3] % y[2], o = i / (y[3] * y[2]) % y[1];
    const std::int64_t n = i / (y[3] * y[2] * y[1]);
    for (std::int64_t k = 0; k < C * KH * KW; ++k) {
      const std::int64_t c = k / (KH * KW);
      const std::int64_t h = oh * attrs.stride_h + k / KW % KH - attrs.pad_h;
      const std::int64_t v = ow * attrs.stride_w + k % KW - attrs.pad_w;
      if (h < 0 || h >= H || v < 0 || v >= W) continue;
      visit(static_cast<std::size_t>(((n * C + c) * H + h) * W + v),
            static_cast<std::size_t>(o * C * KH * KW + k), static_cast<std::size_t>(i));
    }
  }
}

// Places that meet in a pool: visit(of x, of y).
template <class PoolAttrs, class Visit>
void each_window_place(const PoolAttrs& attrs, const Shape& x, const Shape& y, Visit&& visit) {
  for (std::int64_t i = 0; i < y.elements(); ++i) {
    const std::int64_t first_h = i / y[3] % y[2] * attrs.stride_h - attrs.pad_h;
    const std::int64_t first_w = i % y[3] * attrs.stride_w - attrs.pad_w;
    const std::int64_t plane = i / (y[3] * y[2]);
    for (std::int64_t h = std::max<std::int64_t>(0, first_h);
         h < std::min(x[2], first_h + attrs.kernel_h); ++h) {
      for (std::int64_t w = std::max<std::int64_t>(0, first_w);
           w < std::min(x[3], first_w + attrs.kernel_w); ++w) {
        visit(static_cast<std::size_t>((plane * x[2] + h) * x[3] + w), static_cast<std::size_t>(i));
      }
    }
  }
}

// Of an op whose output 0 sums products, or of the fused op it is a part of, with the two factors
// and the output: visit(out, left, right).
template <class Visit>
void each_product(const Op& op, const Shape& a, const Shape& b, const Shape& out, Visit&& visit) {
  if (const auto* product = std::get_if<MatMulAttrs>(&op.attrs)) {
    each_matmul_term(*product, a, out, visit);
  } else if (const auto* update = std::get_if<ProductUpdateAttrs>(&op.attrs)) {
    each_matmul_term(*update, a, out, visit);
  } else if (const auto* convolution = std::get_if<Conv2dAttrs>(&op.attrs)) {
    each_convolution_term(*convolution, a, b, out,
                          [&](std::size_t x, std::size_t w, std::size_t y) { visit(y, x, w); });
  } else if (const auto* weights = std::get_if<Conv2dUpdateAttrs>(&op.attrs)) {
    each_convolution_term(*weights, a, out, b,
                          [&](std::size_t x, std::size_t w, std::size_t y) { visit(w, x, y); });
  } else {
    const auto& gradient = std::get<Conv2dGradAttrs>(op.attrs);
    const bool of_input =
        op.kind == OpKind::Conv2dInputGrad || op.kind == OpKind::Conv2dInputReluGrad;
    if (of_input) {
      each_convolution_term(gradient, out, b, a,
                            [&](std::size_t x, std::size_t w, std::size_t y) { visit(x, y, w); });
    } else {
      each_convolution_term(gradient, a, out, b,
                            [&](std::size_t x, std::size_t w, std::size_t y) { visit(w, x, y); });
    }
  }
}

// Of an op whose output sums elements of input 0, each times one factor: visit(out, from).
// `integers` are those of input 1: indices, or winners.
template <class Visit>
void each_summand(const Op& op, const Shape& x, const Shape& out,
                  std::span<const std::int32_t> integers, Visit&& visit) {
  const auto elements = static_cast<std::size_t>(x.elements());
  switch (op.kind) {
    case OpKind::ReduceSum: {
      const auto axis = static_cast<std::size_t>(std::get<ReduceAttrs>(op.attrs).axis);
      const auto inner = static_cast<std::size_t>(elements_from(x, axis + 1));
      const auto D = static_cast<std::size_t>(x[axis]);
      for (std::size_t i = 0; i < elements; ++i) visit(i / (D * inner) * inner + i % inner, i);
      return;
    }
    case OpKind::BiasGrad: {
      const auto inner = static_cast<std::size_t>(elements_from(x, 2));
      const auto C = static_cast<std::size_t>(x[1]);
      for (std::size_t i = 0; i < elements; ++i) visit(i / inner % C, i);
      return;
    }
    case OpKind::ScatterAdd: {
      const auto row = static_cast<std::size_t>(elements_from(x, 1));
      for (std::size_t i = 0; i < elements; ++i) {
        visit(static_cast<std::size_t>(integers[i / row]) * row + i % row, i);
      }
      return;
    }
    case OpKind::Gather: {
      const auto row = static_cast<std::size_t>(elements_from(x, 1));
      for (std::size_t i = 0; i < static_cast<std::size_t>(out.elements()); ++i) {
        visit(i, static_cast<std::size_t>(integers[i / row]) * row + i % row);
      }
      return;
    }
    case OpKind::AvgPool:
      return each_window_place(std::get<Pool2dAttrs>(op.attrs), x, out,
                               [&](std::size_t from, std::size_t to) { visit(to, from); });
    case OpKind::AvgPoolGrad:
      return each_window_place(std::get<Pool2dGradAttrs>(op.attrs), out, x, visit);
    default: {  // MaxPoolGrad and MaxPoolReluGrad
      const auto from_plane = static_cast<std::size_t>(elements_from(x, 2));
      const auto to_plane = static_cast<std::size_t>(elements_from(out, 2));
      for (std::size_t i = 0; i < elements; ++i) {
        visit(i / from_plane * to_plane + static_cast<std::size_t>(integers[i]), i);
      }
      return;
    }
  }
}

// What each summand is divided by: the size of the window of an average, else one.
inline double divisor(const Op& op) {
  if (op.kind == OpKind::AvgPool) {
    const auto& pool = std::get<Pool2dAttrs>(op.attrs);
    return static_cast<double>(pool.kernel_h * pool.kernel_w);
  }
  if (op.kind == OpKind::AvgPoolGrad) {
    const auto& pool = std::get<Pool2dGradAttrs>(op.attrs);
    return static_cast<double>(pool.kernel_h * pool.kernel_w);
  }
  return 1.0;
}

}  // namespace stepscope::test
