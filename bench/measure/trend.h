// Whether a series in time order drifts: rank test, slope, autocorrelation. A flag follows from
// them, never a correction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace stepscope {

// Mann-Kendall's test for a monotone trend.
struct MannKendall {
  std::int64_t s = 0;   // pairs that rise less pairs that fall
  double variance = 0;  // of s without a trend, corrected for ties
  double z = 0;         // with the continuity correction
  double p = 1;         // two-sided, by the normal distribution: close from about ten values on
};
// Of values in time order. Sources: H. Mann, Econometrica 13 (1945); M. Kendall, "Rank correlation
// methods" (1975).
MannKendall mann_kendall(std::span<const double> values);

// Theil-Sen's slope: the median of the slopes between all pairs of different times. 0 where there
// is no such pair. Throws bad_input where the lists differ in length.
double theil_sen(std::span<const double> times, std::span<const double> values);

// Correlation of a value with the one before it, in time order; 0 below three values or without
// spread.
double lag1_autocorrelation(std::span<const double> values);

}  // namespace stepscope
