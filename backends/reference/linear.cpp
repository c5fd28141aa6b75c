// MatMul and AddBias.
// SPDX-License-Identifier: Apache-2.0
#include "backends/reference/kernel.h"

namespace stepscope::reference {

// a {M, K} or, transposed, {K, M}; b {K, N} or {N, K}; c {M, N}
template <class T>
void MatMul(const Call<T>& call) {
  const auto [transpose_a, transpose_b] = call.template attrs<MatMulAttrs>();
  const std::int64_t M = call.out_shape(0)[0];
  const std::int64_t N = call.out_shape(0)[1];
  const std::int64_t K = call.in_shape(0)[transpose_a ? 0 : 1];
  const T* a = call.in(0);
  const T* b = call.in(1);
  T* c = call.out(0);
  for (std::int64_t m = 0; m < M; ++m) {
    for (std::int64_t n = 0; n < N; ++n) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < K; ++k) {
        const double left = transpose_a ? a[k * M + m] : a[m * K + k];
        const double right = transpose_b ? b[n * K + k] : b[k * N + n];
        sum += left * right;
      }
      c[m * N + n] = static_cast<T>(sum);
    }
  }
}
STEPSCOPE_REFERENCE_KERNEL(MatMul)

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

}  // namespace stepscope::reference
