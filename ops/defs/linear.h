// Shape rules and work of products, for MatMul and its fused forms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ops/ir/op_def.h"

namespace stepscope::defs {

// a {rows, inner}, b {inner, columns}, either stored as its transpose.
struct ProductSizes {
  std::int64_t rows, columns, inner;
};

// Throws bad_graph with `op` in front when the two do not fit.
ProductSizes product_sizes(std::string_view op, const TensorType& a, const TensorType& b,
                           bool transpose_a, bool transpose_b);

double product_flops(const ProductSizes& sizes);

// `bias` must be {size}, of that element type.
void check_bias(std::string_view op, const TensorType& bias, std::int64_t size, DType dtype);

}  // namespace stepscope::defs
