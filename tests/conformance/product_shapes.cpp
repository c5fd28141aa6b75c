// The sizes: around vector widths and blocks, and long sums.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/product_shapes.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "tests/conformance/activation_bounds.h"

namespace stepscope::conformance {

std::string ProductShape::name() const { return fmt::format("{}x{}x{}", M, K, N); }

std::span<const ProductShape> product_shapes() {
  static const std::array<ProductShape, 9> all = {{{1, 1, 1},
                                                   {1, 7, 3},
                                                   {2, 3, 7},
                                                   {7, 17, 64},
                                                   {17, 64, 65},
                                                   {65, 2, 17},
                                                   {64, 65, 1},
                                                   {3, 784, 10},
                                                   {32, 200, 128}}};
  return all;
}

std::vector<double> linear_bound(const Oracle& oracle, std::size_t output) {
  const auto& settings = std::get<MatMulAttrs>(oracle.attrs);
  const std::vector<double> sizes = products(oracle, settings, 0);
  const double share = gamma(sum_length(oracle, settings, 0) + 1);
  const std::size_t N = oracle.in[2].size();
  return each_element(oracle, output, [&](std::size_t i) {
    return activation_error(settings.activation, oracle.out[0][i],
                            share * (sizes[i] + std::abs(oracle.in[2][i % N])));
  });
}

}  // namespace stepscope::conformance
