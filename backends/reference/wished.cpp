// Fused products that are made for backends that wish for them: relu with a mask, one byte an
// element, and the product that updates with the rest of the parameters.
// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/functions.h"
#include "backends/reference/kernel.h"
#include "backends/reference/sums.h"

namespace stepscope::reference {

// x, w as MatMul has them, b {N} -> y {M, N} = relu(x w + b), saved u8{M, N}: 1 where a gradient
// passes. By y as it is stored, since ReluGrad reads that.
template <class T>
void LinearReluMask(const Call<T>& call) {
  Linear(call);
  const T* y = call.out(0);
  std::uint8_t* mask = call.out_u8(1);
  for (std::int64_t i = 0; i < call.out_shape(0).elements(); ++i) {
    mask[i] = y[i] <= T{0} ? 0 : 1;
  }
}
STEPSCOPE_REFERENCE_KERNEL(LinearReluMask)

// a, b as MatMul has them, saved u8{M, N} -> the product where the mask lets it through
template <class T>
void MatMulMaskGrad(const Call<T>& call) {
  const Product<T> product = product_of(call, call.template attrs<MatMulAttrs>());
  const std::uint8_t* mask = call.in_u8(2);
  T* dx = call.out(0);
  multiply(product, [&](std::int64_t m, std::int64_t n, double sum) {
    const std::int64_t i = m * product.N + n;
    dx[i] = mask[i] == 0 ? T{0} : static_cast<T>(sum);
  });
}
STEPSCOPE_REFERENCE_KERNEL(MatMulMaskGrad)

// W {M, N}, a, b as MatMul has them, p..., g...[, step] -> W - a b, p - g, ...[, step + 1], in
// place. With `bias` the gradient of the first p {N} is the column sums of b {K, N}.
template <class T>
void MatMulSgdUpdate(const Call<T>& call) {
  const auto& settings = call.template attrs<SmallUpdateAttrs>();
  const Product<T> product = product_of(call, settings, 1);
  subtract(product, call.out(0));
  const auto tensors = static_cast<std::size_t>(settings.tensors);
  const std::size_t sums = settings.bias ? 1 : 0;
  for (std::size_t t = 0; t < tensors; ++t) {
    T* p = call.out(1 + t);
    if (t < sums) {
      subtract_column_sums(product.b, product.K, product.N, p);
      continue;
    }
    const T* g = call.in(3 + tensors + t - sums);
    for (std::int64_t i = 0; i < call.out_shape(1 + t).elements(); ++i) {
      p[i] = static_cast<T>(double{p[i]} - double{g[i]});
    }
  }
  if (settings.advance_step) ++*call.out_i32(1 + tensors);
}
STEPSCOPE_REFERENCE_KERNEL(MatMulSgdUpdate)

}  // namespace stepscope::reference
