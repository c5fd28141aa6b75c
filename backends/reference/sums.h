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

// store(m, n, sum over k of a(m, k) b(k, n)), each sum added up in the order of k.
template <class T, class Store>
void multiply(const Product<T>& product, Store store) {
  const auto [a, b, M, N, K, transpose_a, transpose_b] = product;
  // A transposed b has its columns far apart: as many as stay in a small cache at once.
  const std::int64_t columns = transpose_b ? 8 : kSums;
  for (std::int64_t m = 0; m < M; ++m) {
    for (std::int64_t first = 0; first < N; first += columns) {
      const std::int64_t count = std::min(columns, N - first);
      Sums sums{};
      for (std::int64_t k = 0; k < K; ++k) {
        const double left = transpose_a ? a[k * M + m] : a[m * K + k];
        const T* right = transpose_b ? b + first * K + k : b + k * N + first;
        const std::int64_t step = transpose_b ? K : 1;
        for (std::int64_t j = 0; j < count; ++j) {
          sums[static_cast<std::size_t>(j)] += left * double{right[j * step]};
        }
      }
      for (std::int64_t j = 0; j < count; ++j) {
        store(m, first + j, sums[static_cast<std::size_t>(j)]);
      }
    }
  }
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

}  // namespace stepscope::reference
