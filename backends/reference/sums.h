// Sums that plain and fused kernels share: each in double, and handed over before it is rounded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/reference/kernel.h"

namespace stepscope::reference {

// How many sums are kept at a time: neighbours in memory, so that the innermost loop runs along
// rows. The order in which one sum is added up does not depend on it.
inline constexpr std::int64_t kSums = 64;
using Sums = std::array<double, kSums>;

// a {M, K} or, transposed, {K, M}; b {K, N} or {N, K}
template <class T>
struct Product {
  const T* a;
  const T* b;
  std::int64_t M, N, K;
  bool transpose_a, transpose_b;
};

// Operands `first` and `first + 1` as the factors.
template <class T, class A>
Product<T> product_of(const Call<T>& call, const A& settings, std::size_t first = 0) {
  const auto side = [](bool transposed) { return transposed ? 1U : 0U; };
  const Shape& a = call.in_shape(first);
  const Shape& b = call.in_shape(first + 1);
  return {.a = call.in(first),
          .b = call.in(first + 1),
          .M = a[side(settings.transpose_a)],
          .N = b[1 - side(settings.transpose_b)],
          .K = a[1 - side(settings.transpose_a)],
          .transpose_a = settings.transpose_a,
          .transpose_b = settings.transpose_b};
}

// Part of b, k outermost, as double: unpacked once for several rows of a.
inline constexpr std::int64_t kDepth = 32;
using Panel = std::array<Sums, kDepth>;

template <class T>
void unpack(const Product<T>& product, std::int64_t k0, std::int64_t n0, std::int64_t depth,
            std::int64_t columns, Panel& panel) {
  const std::int64_t along_k = product.transpose_b ? 1 : product.N;
  const std::int64_t along_n = product.transpose_b ? product.K : 1;
  for (std::int64_t k = 0; k < depth; ++k) {
    const T* row = product.b + (k0 + k) * along_k + n0 * along_n;
    Sums& unpacked = panel[static_cast<std::size_t>(k)];
    for (std::int64_t j = 0; j < columns; ++j) {
      unpacked[static_cast<std::size_t>(j)] = row[j * along_n];
    }
  }
}

// sums[j] += a(m, k) b(k, n0 + j) for each k of the panel
template <class T>
void add_products(const Product<T>& product, std::int64_t m, std::int64_t k0, std::int64_t depth,
                  std::size_t columns, const Panel& panel, Sums& sums) {
  for (std::int64_t k = 0; k < depth; ++k) {
    const std::int64_t at = k0 + k;
    const double left = product.a[product.transpose_a ? at * product.M + m : m * product.K + at];
    const Sums& right = panel[static_cast<std::size_t>(k)];
    for (std::size_t j = 0; j < columns; ++j) sums[j] += left * right[j];
  }
}

// store(m, n, sum over k of a(m, k) b(k, n)), each sum added up in the order of k: blocks of rows,
// columns and k change what is near in memory, and nothing else.
template <class T, class Store>
void multiply(const Product<T>& product, Store store) {
  constexpr std::int64_t kRows = 8;
  Panel panel{};
  for (std::int64_t m0 = 0; m0 < product.M; m0 += kRows) {
    const std::int64_t rows = std::min(kRows, product.M - m0);
    for (std::int64_t n0 = 0; n0 < product.N; n0 += kSums) {
      const std::int64_t columns = std::min(kSums, product.N - n0);
      std::array<Sums, kRows> sums{};
      for (std::int64_t k0 = 0; k0 < product.K; k0 += kDepth) {
        const std::int64_t depth = std::min(kDepth, product.K - k0);
        unpack(product, k0, n0, depth, columns, panel);
        for (std::int64_t m = 0; m < rows; ++m) {
          add_products(product, m0 + m, k0, depth, static_cast<std::size_t>(columns), panel,
                       sums[static_cast<std::size_t>(m)]);
        }
      }
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        store(m0 + i / columns, n0 + i % columns,
              sums[static_cast<std::size_t>(i / columns)][static_cast<std::size_t>(i % columns)]);
      }
    }
  }
}

// w {M, N} -> w - a b
template <class T>
void subtract(const Product<T>& product, T* w) {
  multiply(product, [&](std::int64_t m, std::int64_t n, double sum) {
    T& element = w[m * product.N + n];
    element = static_cast<T>(double{element} - sum);
  });
}

// x {outer, C, inner} -> y {C}
template <class T>
void sum_channels(const T* x, std::int64_t outer, std::int64_t C, std::int64_t inner, T* y) {
  for (std::int64_t c = 0; c < C; ++c) {
    double sum = 0.0;
    for (std::int64_t n = 0; n < outer; ++n) {
      for (std::int64_t i = 0; i < inner; ++i) sum += double{x[(n * C + c) * inner + i]};
    }
    y[c] = static_cast<T>(sum);
  }
}

// p {N} -= the column sums of b {K, N}, rounded once
template <class T>
void subtract_column_sums(const T* b, std::int64_t K, std::int64_t N, T* p) {
  for (std::int64_t n = 0; n < N; ++n) {
    double sum = 0.0;
    for (std::int64_t k = 0; k < K; ++k) sum += double{b[k * N + n]};
    p[n] = static_cast<T>(double{p[n]} - sum);
  }
}

}  // namespace stepscope::reference
