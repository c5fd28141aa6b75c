// Eigen's products of matrices, written without a temporary.
// SPDX-License-Identifier: Apache-2.0
#include "backends/eigen/kernels/kernels.h"
#include "backends/eigen/kernels/library.h"
#include "backends/eigen/kernels/team_of.h"

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {
namespace {

// What becomes of c: the product, c plus it, or c minus it.
enum class Into { set, add, subtract };

template <Into kInto, class A, class B>
void multiply(const A& a, const B& b, Map<Matrix> c) {
  if constexpr (kInto == Into::set) {
    c.noalias() = a * b;
  } else if constexpr (kInto == Into::add) {
    c.noalias() += a * b;
  } else {
    c.noalias() -= a * b;
  }
}

// a {M, K} or, transposed, {K, M}; b {K, N} or {N, K}; c {M, N}
template <Into kInto>
void multiply(const float* a, const float* b, float* c, const Product& site) {
  const auto [M, N, K, transpose_a, transpose_b, threads] = site;
  const Map<Matrix> result(c, M, N);
  const TeamOf team(threads);
  if (transpose_a && transpose_b) {
    multiply<kInto>(Map<const Matrix>(a, K, M).transpose(), Map<const Matrix>(b, N, K).transpose(),
                    result);
  } else if (transpose_a) {
    multiply<kInto>(Map<const Matrix>(a, K, M).transpose(), Map<const Matrix>(b, K, N), result);
  } else if (transpose_b) {
    multiply<kInto>(Map<const Matrix>(a, M, K), Map<const Matrix>(b, N, K).transpose(), result);
  } else {
    multiply<kInto>(Map<const Matrix>(a, M, K), Map<const Matrix>(b, K, N), result);
  }
}

}  // namespace

// a, b -> c
void MatMul(Operands operands, const Product& site) {
  multiply<Into::set>(f32(operands, 0), f32(operands, 1), f32(operands, 2), site);
}

// a, b, bias {N} -> c: the bias is what the product is added to, where Eigen would write zeros.
void product_and_bias(Operands operands, const Product& site) {
  float* c = f32(operands, 3);
  Map<Rectangle>(c, site.M, site.N).rowwise() = Map<const Row>(f32(operands, 2), site.N);
  multiply<Into::add>(f32(operands, 0), f32(operands, 1), c, site);
}

// a, b, c: c minus the product
void subtract_product(const float* a, const float* b, float* c, const Product& site) {
  multiply<Into::subtract>(a, b, c, site);
}

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
