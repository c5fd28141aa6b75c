// matmul: the products that the simulated cuBLASLt computes, on memory that somebody else has
// checked.
//
//   D = epilogue(alpha * op(A) * op(B) + beta * C)
//
// op(A) is {m, k}, op(B) {k, n}, C and D {m, n}. Every sum is one accumulator in double with k
// ascending, so that the result is a reference; what the device rounds is not modelled.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace stepscope::cudasim {

// Elements are at data[row * row_step + column * column_step]: order and transposition are in the
// steps alone.
struct MatrixView {
  float* data = nullptr;
  std::int64_t row_step = 1, column_step = 0;
  float& at(std::int64_t row, std::int64_t column) const {
    return data[row * row_step + column * column_step];
  }
};

enum class BiasGradient : std::uint8_t {
  none,
  of_a,  // {m}: op(A) summed over k
  of_b,  // {n}: op(B) summed over k
  of_d,  // {m}: D summed over its columns, after the ReLU's gradient
};

struct Epilogue {
  bool relu = false;
  bool mask = false;           // with relu: writes `aux`
  bool relu_gradient = false;  // reads `aux`
  bool bias = false;           // {m}, added to each column
  BiasGradient bias_gradient = BiasGradient::none;
  float* bias_data = nullptr;  // the bias, or where its gradient goes
  // A bit for each element of D, column by column: element (row, column) is bit
  // column * aux_ld + row, lowest bit of a byte first. Set: the ReLU let it pass.
  std::uint8_t* aux = nullptr;
  std::int64_t aux_ld = 0;  // bits
};

struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  MatrixView a, b, c, d;  // a and b after op(); c is read when beta is not zero
  float alpha = 1, beta = 0;
  Epilogue epilogue;
  // Two halves of the sum, each rounded to float: another algorithm, with other bits. Its partial
  // sums go to the workspace {2, n, m}, which holds NaN afterwards: nothing else may live there.
  float* workspace = nullptr;  // null: one sum
};

void multiply(const Product& product);

}  // namespace stepscope::cudasim
