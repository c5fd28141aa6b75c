// MatMul and AddBias, what is fused around them, and their gradients.
// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/functions.h"
#include "backends/reference/kernel.h"
#include "backends/reference/sums.h"

namespace stepscope::reference {

// a {M, K} or, transposed, {K, M}; b {K, N} or {N, K}; c {M, N}
template <class T>
void MatMul(const Call<T>& call) {
  const Product<T> product = product_of(call, call.template attrs<MatMulAttrs>());
  T* c = call.out(0);
  multiply(product, [&](std::int64_t m, std::int64_t n, double sum) {
    c[m * product.N + n] = static_cast<T>(sum);
  });
}
STEPSCOPE_REFERENCE_KERNEL(MatMul)

// x, w as MatMul has them, b {N}; y {M, N}
template <class T>
void Linear(const Call<T>& call) {
  const auto& settings = call.template attrs<MatMulAttrs>();
  const Product<T> product = product_of(call, settings);
  const T* bias = call.in(2);
  T* y = call.out(0);
  multiply(product, [&](std::int64_t m, std::int64_t n, double sum) {
    y[m * product.N + n] = static_cast<T>(activate(settings.activation, sum + double{bias[n]}));
  });
}
STEPSCOPE_REFERENCE_KERNEL(Linear)

// a, b as MatMul has them, y {M, N} -> the product, gone through relu
template <class T>
void MatMulReluGrad(const Call<T>& call) {
  const Product<T> product = product_of(call, call.template attrs<MatMulAttrs>());
  const T* y = call.in(2);
  T* dx = call.out(0);
  multiply(product, [&](std::int64_t m, std::int64_t n, double sum) {
    const std::int64_t i = m * product.N + n;
    dx[i] = static_cast<T>(relu_grad(sum, y[i]));
  });
}
STEPSCOPE_REFERENCE_KERNEL(MatMulReluGrad)

// a {M, K} or {K, M}, b {K, N} -> c {M, N}, column sums of b {N}
template <class T>
void MatMulBiasGrad(const Call<T>& call) {
  MatMul(call);
  const Shape& b = call.in_shape(1);
  sum_channels(call.in(1), b[0], b[1], 1, call.out(1));
}
STEPSCOPE_REFERENCE_KERNEL(MatMulBiasGrad)

// W {M, N}, a, b as MatMul has them -> W - a b, in place[, column sums of b {N}]
template <class T>
void MatMulUpdate(const Call<T>& call) {
  const auto& settings = call.template attrs<ProductUpdateAttrs>();
  const Product<T> product = product_of(call, settings, 1);
  subtract(product, call.out(0));
  if (settings.bias_grad) sum_channels(product.b, product.K, product.N, 1, call.out(1));
}
STEPSCOPE_REFERENCE_KERNEL(MatMulUpdate)

// x {N, C, inner...}, bias {C}, y as x
template <class T>
void AddBias(const Call<T>& call) {
  const Shape& shape = call.in_shape(0);
  const std::int64_t C = shape[1];
  const std::int64_t inner = shape.elements() / (shape[0] * C);
  const T* x = call.in(0);
  const T* bias = call.in(1);
  T* y = call.out(0);
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    y[i] = static_cast<T>(double{x[i]} + double{bias[i / inner % C]});
  }
}
STEPSCOPE_REFERENCE_KERNEL(AddBias)

// dy {N, C, inner...} -> db {C}
template <class T>
void BiasGrad(const Call<T>& call) {
  const Shape& dy = call.in_shape(0);
  sum_channels(call.in(0), dy[0], dy[1], dy.elements() / (dy[0] * dy[1]), call.out(0));
}
STEPSCOPE_REFERENCE_KERNEL(BiasGrad)

}  // namespace stepscope::reference
