// Error bounds of f32 kernels: derived from the roundings that a result passes through, in whatever
// order a library sums, with or without fused multiply-add; never chosen by taste.
//
// Source of the model: N. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed. 2002,
// chapters 2 and 3: fl(a op b) = (a op b)(1 + d), |d| <= u; n of these factors together differ from
// 1 by at most gamma(n); |fl(x.y) - x.y| <= gamma(n) |x|.|y| for n products in any order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/conformance/op_cases.h"

namespace stepscope::conformance {

inline constexpr double kUnitRoundoff = 0x1p-24;  // f32, round to nearest

inline double gamma(std::int64_t roundings) {
  const double nu = static_cast<double>(roundings) * kUnitRoundoff;
  return nu / (1.0 - nu);
}

// Roundings that a function of the mathematical library stands for: its error in ulp, each ulp at
// most two unit roundoffs. OpenCL C 3.0, section 7.4, single precision: exp 3 ulp, log 3, tanh 5;
// libm, Eigen and CUDA are better than that where they are IEEE at all.
inline constexpr std::int64_t kExpRoundings = 6;
inline constexpr std::int64_t kLogRoundings = 6;
inline constexpr std::int64_t kTanhRoundings = 10;

// Results below the normal range may be flushed to zero, or come from flushed intermediates.
inline constexpr double kSmallestNormal = 0x1p-126;

// What the oracle's own roundings (u = 2^-53) and the terms of second order may add to a bound.
inline constexpr double kOracleSlack = 1.0 + 0x1p-20;

// gamma(roundings) |y|: for results that are a product of rounded factors.
Bound relative(std::int64_t roundings);

// gamma(roundings), but 0 for none or fewer: of sums with one term.
inline double gamma_of_sum(std::int64_t roundings) {
  return roundings > 0 ? gamma(roundings) : 0.0;
}

// What an op makes of the absolute values of some of the inputs, in f64 by the reference: of a sum
// of products the sum of their sizes, which bounds are proportional to.
std::vector<double> magnitudes(OpKind kind, const Attrs& attrs, const Oracle& oracle,
                               const std::vector<std::size_t>& inputs, std::size_t output = 0);

// f(i) for each element i of output `output`.
template <class F>
std::vector<double> each_element(const Oracle& oracle, std::size_t output, F f) {
  std::vector<double> bounds(oracle.out[output].size());
  for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = f(i);
  return bounds;
}

}  // namespace stepscope::conformance
