// From samples to claims: Student's t, intervals, Welch's test, Holm's correction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace stepscope {

// Student's t distribution with `df` degrees of freedom, which need not be whole (Welch's are
// not). Through the regularised incomplete beta function, by the continued fraction of DLMF 8.17.22
// in Lentz's way; relative error about 1e-14.
// Throws bad_input unless df > 0, and p lies in (0, 1).
double t_cdf(double t, double df);
double t_quantile(double p, double df);

// P(|Z| >= |z|) of the normal distribution.
double normal_two_sided(double z);

// What the logarithms or differences of several processes say of their mean.
struct MeanInterval {
  double mean = 0.0;
  double low = 0.0, high = 0.0;
  double standard_error = 0.0, df = 0.0;

  // Two-sided p of the hypothesis that the true mean lies in [-margin, margin], the nearer edge of
  // it taken; 1 where the mean itself lies inside.
  double p_outside(double margin = 0.0) const;
};

// Student's interval. Requires two values or more; throws bad_input otherwise.
MeanInterval t_interval(std::span<const double> values, double confidence = 0.95);

// Of mean(of) - mean(base) where the deviations may differ. Source: B. Welch, Biometrika 34 (1947);
// degrees of freedom by Satterthwaite. Requires two values or more on each side.
MeanInterval welch_interval(std::span<const double> of, std::span<const double> base,
                            double confidence = 0.95);

// Holm's step-down correction: each p times the number of hypotheses that are not rejected before
// it, made monotone, at most 1. In the order given. Source: S. Holm, "A simple sequentially
// rejective multiple test procedure", Scandinavian Journal of Statistics 6 (1979).
std::vector<double> holm(std::span<const double> p);

}  // namespace stepscope
