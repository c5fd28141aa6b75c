// Rules of products and sums: gamma(n) times the sum of magnitudes holds for every order of n
// terms.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/error_rules.h"

namespace stepscope::test::rules {
namespace {

std::int64_t product_from(const Shape& shape, std::size_t axis) {
  std::int64_t elements = 1;
  for (std::size_t i = axis; i < shape.rank(); ++i) elements *= shape[i];
  return elements;
}

}  // namespace

// a {M, K} x b {K, N}, stored as the attributes say
void matmul(const Call& call) {
  const auto [ta, tb] = std::get<MatMulAttrs>(call.op.attrs);
  const Input& a = call.in[0];
  const Input& b = call.in[1];
  const std::int64_t M = call.out[0].type.shape[0];
  const std::int64_t N = call.out[0].type.shape[1];
  const std::int64_t K = a.type.shape[ta ? 0 : 1];
  for (std::int64_t m = 0; m < M; ++m) {
    for (std::int64_t n = 0; n < N; ++n) {
      double exact = 0.0;  // sum of |a b|
      double most = 0.0;   // the same with the errors
      for (std::int64_t k = 0; k < K; ++k) {
        const auto i = static_cast<std::size_t>(ta ? k * M + m : m * K + k);
        const auto j = static_cast<std::size_t>(tb ? n * K + k : k * N + n);
        exact += std::abs(a.value[i] * b.value[j]);
        most += a.most(i) * b.most(j);
      }
      const double passed_on = most - exact;
      call.out[0].error[static_cast<std::size_t>(m * N + n)] =
          most == 0.0 ? 0.0 : passed_on + gamma(static_cast<double>(K)) * most + kTiny;
    }
  }
}

// x {N, C, inner}, bias {C}
void add_bias(const Call& call) {
  const Shape& shape = call.in[0].type.shape;
  const auto inner = static_cast<std::size_t>(product_from(shape, 2));
  const auto C = static_cast<std::size_t>(shape[1]);
  for (std::size_t i = 0; i < call.out[0].value.size(); ++i) {
    call.out[0].set(i, call.in[0].error[i] + call.in[1].error[i / inner % C], kUnit);
  }
}

// x {outer, D, inner} -> y {outer, inner}
void reduce_sum(const Call& call) {
  const auto axis = static_cast<std::size_t>(std::get<ReduceAttrs>(call.op.attrs).axis);
  const auto D = static_cast<std::size_t>(call.in[0].type.shape[axis]);
  const auto inner = static_cast<std::size_t>(product_from(call.in[0].type.shape, axis + 1));
  for (std::size_t i = 0; i < call.out[0].value.size(); ++i) {
    double passed_on = 0.0;
    double most = 0.0;
    for (std::size_t d = 0; d < D; ++d) {
      const std::size_t from = (i / inner * D + d) * inner + i % inner;
      passed_on += call.in[0].error[from];
      most += call.in[0].most(from);
    }
    call.out[0].error[i] = passed_on + gamma(static_cast<double>(D) - 1.0) * most;
  }
}

// x {outer, inner} -> y {outer, D, inner}
void broadcast(const Call& call) {
  const auto [axis, D] = std::get<BroadcastAttrs>(call.op.attrs);
  const std::int64_t inner = product_from(call.in[0].type.shape, static_cast<std::size_t>(axis));
  for (std::size_t i = 0; i < call.out[0].value.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    call.out[0].error[i] =
        call.in[0].error[static_cast<std::size_t>(at / (D * inner) * inner + at % inner)];
  }
}

}  // namespace stepscope::test::rules
