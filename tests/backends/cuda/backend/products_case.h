// products_case: a product to be run on the device and by plain loops in double.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "backends/api/stream.h"
#include "backends/cuda/products.h"

namespace stepscope::cuda::products {

struct Sizes {
  std::int64_t M, K, N;
};

struct Case {
  OpKind kind = OpKind::MatMul;
  Sizes sizes{1, 1, 1};
  bool transpose_a = false, transpose_b = false;
  Activation activation = Activation::none;  // of Linear
  bool sums = false;                         // of MatMulUpdate
};

// Every op with what it may be: transposes, activations, column sums.
std::vector<Case> all_of(const Sizes& sizes);
std::string text_of(const Case& product);
OpSite site_of(const Case& product);
std::uint64_t own_calls(const Case& product);  // behind the library's, on the simulator

struct Result {
  std::vector<std::vector<float>> outputs;
  Counters counted;
};
enum class Scratch : std::uint8_t { as_needed, missing };
// One launch on a stream of its own, on data that the case alone decides.
Result run(const Products& made, const Case& product, Scratch scratch = Scratch::as_needed);
// "" or the first element further off than rounding explains: gamma(K + 3) of the sum of the sizes
// of its terms, with tanh and sigmoid, which are no steeper than 1, to 16 units in the last place.
std::string difference(const Case& product, const Result& result);

}  // namespace stepscope::cuda::products
