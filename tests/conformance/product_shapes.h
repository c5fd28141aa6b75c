// Sizes of products and the bounds of their sums, for all cases that are fused around products.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/conformance/op_cases.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {

struct ProductShape {
  std::int64_t M, K, N;

  Shape a(bool transposed) const { return transposed ? Shape{K, M} : Shape{M, K}; }
  Shape b(bool transposed) const { return transposed ? Shape{N, K} : Shape{K, N}; }
  Shape c() const { return {M, N}; }
  std::string name() const;
};
std::span<const ProductShape> product_shapes();

struct Transposes {
  bool a, b;
  const char* suffix;
};
inline constexpr Transposes kTransposes[] = {
    {false, false, ""}, {true, false, "_ta"}, {false, true, "_tb"}, {true, true, "_ta_tb"}};

// How long the sums of a product are, and |a| |b|. `first`: which input a is.
template <class A>
std::int64_t sum_length(const Oracle& oracle, const A& settings, std::size_t first) {
  return oracle.in_types[first].shape[settings.transpose_a ? 0 : 1];
}
template <class A>
std::vector<double> products(const Oracle& oracle, const A& settings, std::size_t first) {
  return magnitudes(OpKind::MatMul, MatMulAttrs{settings.transpose_a, settings.transpose_b}, oracle,
                    {first, first + 1});
}

// K products and the bias, then the activation: of Linear's first output.
std::vector<double> linear_bound(const Oracle& oracle, std::size_t output);

// K products taken from a weight, which is input 0.
template <class A>
std::vector<double> product_update_bound(const Oracle& oracle, std::size_t output) {
  const auto& settings = std::get<A>(oracle.attrs);
  const std::vector<double> sizes = products(oracle, settings, 1);
  const double share = gamma(sum_length(oracle, settings, 1) + 1);
  return each_element(oracle, output, [&](std::size_t i) {
    return share * (std::abs(oracle.in[0][i]) + sizes[i]);
  });
}

}  // namespace stepscope::conformance
