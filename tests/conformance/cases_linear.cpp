// Cases of MatMul and AddBias.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tests/conformance/op_cases.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Shape stored(std::int64_t rows, std::int64_t columns, bool transposed) {
  return transposed ? Shape{columns, rows} : Shape{rows, columns};
}

// A sum of K products: gamma(K) |a| |b|.
std::vector<double> matmul_bound(const Oracle& oracle, std::size_t output) {
  const auto& settings = std::get<MatMulAttrs>(oracle.attrs);
  const bool ta = settings.transpose_a;
  const bool tb = settings.transpose_b;
  const Shape& a_shape = oracle.in_types[0].shape;
  const Shape& b_shape = oracle.in_types[1].shape;
  const auto M = static_cast<std::size_t>(a_shape[ta ? 1 : 0]);
  const auto K = static_cast<std::size_t>(a_shape[ta ? 0 : 1]);
  const auto N = static_cast<std::size_t>(b_shape[tb ? 0 : 1]);
  const std::vector<double>& a = oracle.in[0];
  const std::vector<double>& b = oracle.in[1];
  return each_element(oracle, output, [&](std::size_t i) {
    const std::size_t m = i / N;
    const std::size_t n = i % N;
    double sum = 0.0;
    for (std::size_t k = 0; k < K; ++k) {
      sum += std::abs(a[ta ? k * M + m : m * K + k] * b[tb ? n * K + k : k * N + n]);
    }
    return gamma(static_cast<std::int64_t>(K)) * sum;
  });
}

TensorType matrix(std::int64_t rows, std::int64_t columns) { return {{rows, columns}, DType::f32}; }

}  // namespace

OpCases cases_of_MatMul() {
  struct Sizes {
    std::int64_t M, K, N;
  };
  OpCases table{.bound = matmul_bound, .cases = {}, .specials = {}};
  for (const auto [M, K, N] :
       {Sizes{1, 1, 1}, Sizes{1, 7, 3}, Sizes{2, 3, 7}, Sizes{7, 17, 64}, Sizes{17, 64, 65},
        Sizes{65, 2, 17}, Sizes{64, 65, 1}, Sizes{3, 784, 10}, Sizes{32, 784, 128}}) {
    for (const auto& [ta, tb, suffix] : {std::tuple{false, false, ""},
                                         {true, false, "_ta"},
                                         {false, true, "_tb"},
                                         {true, true, "_ta_tb"}}) {
      table.cases.push_back({fmt::format("{}x{}x{}{}", M, K, N, suffix),
                             MatMulAttrs{ta, tb},
                             {f32(stored(M, K, ta)), f32(stored(K, N, tb))}});
    }
  }
  // A special value reaches the row or column it stands in, and no other.
  table.specials = {
      {"nan_in_a",
       MatMulAttrs{},
       {{matrix(2, 2), {kNan, 1, 2, 3}}, {matrix(2, 2), {1, 0, 0, 1}}},
       {{kNan, kNan, 2, 3}}},
      {"nan_in_b",
       MatMulAttrs{},
       {{matrix(2, 2), {1, 0, 0, 1}}, {matrix(2, 2), {kNan, 1, 2, 3}}},
       {{kNan, 1, kNan, 3}}},
      {"inf_times_zero",
       MatMulAttrs{},
       {{matrix(1, 2), {kInf, 1}}, {matrix(2, 3), {0, 1, -1, 5, 5, 5}}},
       {{kNan, kInf, -kInf}}},
      {"inf_less_inf",
       MatMulAttrs{},
       {{matrix(1, 2), {kInf, -kInf}}, {matrix(2, 1), {1, 1}}},
       {{kNan}}},
      {"nan_in_transposed_a",
       MatMulAttrs{true, false},
       {{matrix(2, 3), {1, kNan, 2, 3, 4, 5}}, {matrix(2, 1), {1, 1}}},
       {{4, kNan, 7}}},
  };
  return table;
}

OpCases cases_of_AddBias() {
  OpCases table{
      .agreement = Agreement::equal_bits, .bound = relative(1), .cases = {}, .specials = {}};
  for (const Shape& shape : {Shape{1, 1}, Shape{2, 3}, Shape{1, 10}, Shape{7, 17}, Shape{65, 64},
                             Shape{3, 2, 7}, Shape{2, 3, 5, 7}, Shape{32, 128}}) {
    table.cases.push_back({shape_name(shape), {}, {f32(shape), f32({shape[1]})}});
  }
  table.specials = {
      {"infinities",
       {},
       {{matrix(2, 3), {kInf, -kInf, 1, -1, kNan, 2}}, {{{3}, DType::f32}, {-kInf, -kInf, kNan}}},
       {{kNan, -kInf, kNan, -kInf, kNan, kNan}}},
      {"zeros",
       {},
       {{matrix(2, 2), {0.0, -0.0, -0.0, 0.0}}, {{{2}, DType::f32}, {-0.0, -0.0}}},
       {{0.0, -0.0, -0.0, 0.0}}},
  };
  return table;
}

}  // namespace stepscope::conformance
