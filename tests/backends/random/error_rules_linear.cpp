// Rules of products and sums: gamma(n) times the sum of magnitudes holds for every order of n
// terms.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/error_rules.h"
#include "tests/backends/random/error_sums.h"
#include "tests/backends/random/terms.h"

namespace stepscope::test::rules {

std::vector<Sum> product_sums(const Call& call, std::size_t a, const Shape& out) {
  std::vector<Sum> sums(static_cast<std::size_t>(out.elements()));
  const Input& left = call.in[a];
  const Input& right = call.in[a + 1];
  each_product(call.op, left.type.shape, right.type.shape, out,
               [&](std::size_t to, std::size_t i, std::size_t j) {
                 sums[to].add_product(left, i, right, j);
               });
  return sums;
}

std::vector<Sum> element_sums(const Op& op, const Input& x, const Shape& out,
                              std::span<const std::int32_t> integers) {
  std::vector<Sum> sums(static_cast<std::size_t>(out.elements()), Sum{.roundings = -1.0});
  each_summand(op, x.type.shape, out, integers,
               [&](std::size_t to, std::size_t from) { sums[to].add(x, from); });
  return sums;
}

void set_errors(const std::vector<Sum>& sums, const Output& out) {
  for (std::size_t i = 0; i < sums.size(); ++i) out.error[i] = sums[i].error();
}

// MatMul, Conv2d, Conv2dInputGrad, Conv2dWeightGrad
void product(const Call& call) {
  set_errors(product_sums(call, 0, call.out[0].type.shape), call.out[0]);
}

// x {N, C, inner}, bias {C}
void add_bias(const Call& call) {
  const Shape& shape = call.in[0].type.shape;
  const auto inner = static_cast<std::size_t>(elements_from(shape, 2));
  const auto C = static_cast<std::size_t>(shape[1]);
  for (std::size_t i = 0; i < call.out[0].value.size(); ++i) {
    call.out[0].set(i, call.in[0].error[i] + call.in[1].error[i / inner % C], kUnit);
  }
}

// ReduceSum, BiasGrad, ScatterAdd, MaxPoolGrad
void sum(const Call& call) {
  const auto integers = call.in.size() > 1 ? call.in[1].integers : std::span<const std::int32_t>();
  set_errors(element_sums(call.op, call.in[0], call.out[0].type.shape, integers), call.out[0]);
}

// AvgPool, AvgPoolGrad: the quotient of a sum or the sum of quotients, the divisor's reciprocal
// rounded or not.
void mean(const Call& call) {
  const double by = divisor(call.op);
  auto sums = element_sums(call.op, call.in[0], call.out[0].type.shape, {});
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i].roundings += 3.0;
    call.out[0].error[i] = sums[i].error() / by + (sums[i].most > 0.0 ? kTiny : 0.0);
  }
}

void gather(const Call& call) {
  each_summand(
      call.op, call.in[0].type.shape, call.out[0].type.shape, call.in[1].integers,
      [&](std::size_t to, std::size_t from) { call.out[0].error[to] = call.in[0].error[from]; });
}

// x {outer, inner} -> y {outer, D, inner}
void broadcast(const Call& call) {
  const auto [axis, D] = std::get<BroadcastAttrs>(call.op.attrs);
  const std::int64_t inner = elements_from(call.in[0].type.shape, static_cast<std::size_t>(axis));
  for (std::size_t i = 0; i < call.out[0].value.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    call.out[0].error[i] =
        call.in[0].error[static_cast<std::size_t>(at / (D * inner) * inner + at % inner)];
  }
}

}  // namespace stepscope::test::rules
