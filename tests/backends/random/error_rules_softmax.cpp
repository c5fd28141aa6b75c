// Rules of softmax with cross-entropy, its gradient, and the first largest of a row.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/ir/labels.h"
#include "tests/backends/random/error_rules.h"

namespace stepscope::test::rules {
namespace {

struct Row {
  std::size_t begin, size, largest;
  double worst_error;  // of an element
  double spread;       // largest minus smallest element, errors included
};

Row row_of(const Input& x, std::size_t n) {
  const auto C = static_cast<std::size_t>(x.type.shape[1]);
  const auto first = x.value.begin() + static_cast<std::ptrdiff_t>(n * C);
  const auto [low, high] = std::minmax_element(first, first + static_cast<std::ptrdiff_t>(C));
  const auto errors = x.error.subspan(n * C, C);
  const double worst = *std::max_element(errors.begin(), errors.end());
  const auto largest = static_cast<std::size_t>(
      std::max_element(first, first + static_cast<std::ptrdiff_t>(C)) - first);
  return {n * C, C, largest, worst, *high - *low + 2 * worst};
}

// Of labels {N}: the rows that the mean is over. Programs leave some row in.
double rows_left(const Input& labels) {
  return static_cast<double>(
      std::ranges::count_if(labels.integers, [](std::int32_t label) { return !left_out(label); }));
}

}  // namespace

// logits {N, C}, labels i32{N} -> loss {}, probabilities {N, C}
//
// log(sum(exp(x))) moves by no more than the largest error of the row. Rounding: x - max carries
// kUnit |x - max| into the exponent, exp kFunction, the sum gamma(C - 1), log kFunction of itself.
// Twice all that, since a kernel may go through the logarithm once more for the probabilities.
void softmax_cross_entropy(const Call& call) {
  const Input& x = call.in[0];
  const auto N = static_cast<std::size_t>(x.type.shape[0]);
  double passed_on = 0.0, rounding = 0.0, magnitude = 0.0;
  for (std::size_t n = 0; n < N; ++n) {
    const Row row = row_of(x, n);
    const double log_sum = std::log(static_cast<double>(row.size));  // at most
    const double relative = kUnit * row.spread + kFunction + gamma(static_cast<double>(row.size));
    if (const std::int32_t label = call.in[1].integers[n]; !left_out(label)) {
      passed_on += row.worst_error + x.error[row.begin + static_cast<std::size_t>(label)];
      rounding += 2 * (relative + kFunction * log_sum + kUnit * (row.spread + log_sum));
      magnitude += row.spread + log_sum;
    }
    const double moved = std::expm1(2 * row.worst_error + 2 * relative + kUnit * log_sum);
    for (std::size_t c = 0; c < row.size; ++c) {
      const std::size_t i = row.begin + c;
      call.out[1].set(i, std::abs(call.out[1].value[i]) * moved, 2 * kUnit);
    }
  }
  const double rows = rows_left(call.in[1]);
  const double mean_error = (passed_on + rounding + gamma(rows) * (magnitude + passed_on)) / rows;
  call.out[0].set(0, mean_error, 2 * kUnit);
}

// probabilities {N, C}, labels i32{N}[, d_loss {}] -> (p - hot) / left [* d_loss]; exact zeros
// where a row is left out
void softmax_cross_entropy_grad(const Call& call) {
  const Input& p = call.in[0];
  const auto C = static_cast<std::size_t>(p.type.shape[1]);
  const double left = rows_left(call.in[1]);
  const bool scaled = call.in.size() == 3;
  const double d_loss = scaled ? std::abs(call.in[2].value[0]) : 1.0;
  const double d_error = scaled ? call.in[2].error[0] : 0.0;
  for (std::size_t i = 0; i < p.value.size(); ++i) {
    const std::int32_t label = call.in[1].integers[i / C];
    if (left_out(label)) {
      call.out[0].set(i, 0.0, 0.0);
      continue;
    }
    const bool hot = static_cast<std::size_t>(label) == i % C;
    const double slope = std::abs(p.value[i] - (hot ? 1.0 : 0.0));
    const double passed_on = p.error[i] * (d_loss + d_error) + slope * d_error;
    call.out[0].set(i, passed_on / left, 5 * kUnit);
  }
}

// x {N, C}: ambiguous where another element may come out larger than the largest.
void first_largest(const Call& call) {
  const Input& x = call.in[0];
  for (std::size_t n = 0; n < static_cast<std::size_t>(x.type.shape[0]); ++n) {
    const Row row = row_of(x, n);
    const std::size_t best = row.begin + row.largest;
    for (std::size_t i = row.begin; i < row.begin + row.size; ++i) {
      const double reach = x.error[i] + x.error[best];
      if (i != best && reach > 0.0 && x.value[best] - x.value[i] <= reach) call.ambiguous = true;
    }
  }
}

}  // namespace stepscope::test::rules
