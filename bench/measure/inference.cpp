// Student's t and what stands on it.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/inference.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

#include "ops/base/check.h"

namespace stepscope {
namespace {

// The continued fraction of I_x(a, b), DLMF 8.17.22; converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;  // in place of a zero denominator: Lentz's way
  constexpr int kMostTerms = 10'000;
  const auto away_from_zero = [](double v) { return std::fabs(v) < kTiny ? kTiny : v; };
  double c = 1.0;
  double d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
  double value = d;
  for (int m = 1; m <= kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
    double change = 1.0;
    for (const double term : {even, odd}) {
      d = 1.0 / away_from_zero(1.0 + term * d);
      c = away_from_zero(1.0 + term / c);
      change = c * d;
      value *= change;
    }
    if (std::fabs(change - 1.0) < 1e-15) break;
  }
  return value;
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  if (x > (a + 1.0) / (a + b + 2.0)) return 1.0 - incomplete_beta(b, a, 1.0 - x);
  const double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(log_front) * beta_fraction(a, b, x) / a;
}

// P(T > t) for t >= 0: half of I_{df / (df + t^2)}(df / 2, 1 / 2), so that small tails keep digits.
double upper_tail(double t, double df) {
  return 0.5 * incomplete_beta(df / 2.0, 0.5, df / (df + t * t));
}

void check_df(double df) {
  check(df > 0.0, Fault::bad_input, "t distribution: {} degrees of freedom, expected above 0", df);
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Of the mean: sum of squares over (n - 1) n.
double variance_of_mean(std::span<const double> values) {
  const double mean = mean_of(values);
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto n = static_cast<double>(values.size());
  return squares / (n - 1.0) / n;
}

void check_two(std::span<const double> values, const char* what) {
  check(values.size() >= 2, Fault::bad_input, "{}: {} values, expected 2 or more", what,
        values.size());
}

MeanInterval interval_of(double mean, double standard_error, double df, double confidence) {
  const double half = t_quantile(0.5 + confidence / 2.0, df) * standard_error;
  return {.mean = mean,
          .low = mean - half,
          .high = mean + half,
          .standard_error = standard_error,
          .df = df};
}

}  // namespace

double t_cdf(double t, double df) {
  check_df(df);
  return t < 0.0 ? upper_tail(-t, df) : 1.0 - upper_tail(t, df);
}

double t_quantile(double p, double df) {
  check_df(df);
  check(p > 0.0 && p < 1.0, Fault::bad_input, "t quantile: p is {}, expected between 0 and 1", p);
  const double tail = std::min(p, 1.0 - p);
  double low = 0.0, high = 1.0;
  while (upper_tail(high, df) > tail) high *= 2.0;
  // Bisection ends when two doubles have none between them.
  for (double middle = (low + high) / 2.0; middle > low && middle < high;
       middle = (low + high) / 2.0) {
    (upper_tail(middle, df) > tail ? low : high) = middle;
  }
  return p < 0.5 ? -high : high;
}

double normal_two_sided(double z) { return std::erfc(std::fabs(z) / std::numbers::sqrt2); }

double MeanInterval::p_outside(double margin) const {
  const double beyond = std::fabs(mean) - margin;
  if (beyond <= 0.0) return 1.0;
  if (standard_error <= 0.0) return 0.0;
  return std::min(1.0, 2.0 * upper_tail(beyond / standard_error, df));
}

MeanInterval t_interval(std::span<const double> values, double confidence) {
  check_two(values, "t interval");
  return interval_of(mean_of(values), std::sqrt(variance_of_mean(values)),
                     static_cast<double>(values.size()) - 1.0, confidence);
}

MeanInterval welch_interval(std::span<const double> of, std::span<const double> base,
                            double confidence) {
  check_two(of, "Welch's interval");
  check_two(base, "Welch's interval");
  const double a = variance_of_mean(of), b = variance_of_mean(base);
  const double a_df = static_cast<double>(of.size()) - 1.0;
  const double b_df = static_cast<double>(base.size()) - 1.0;
  const double sum = a + b;
  const double df = sum > 0.0 ? sum * sum / (a * a / a_df + b * b / b_df) : a_df + b_df;
  return interval_of(mean_of(of) - mean_of(base), std::sqrt(sum), df, confidence);
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> corrected(p.size());
  double highest = 0.0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const auto remaining = static_cast<double>(order.size() - rank);
    highest = std::max(highest, std::min(1.0, p[order[rank]] * remaining));
    corrected[order[rank]] = highest;
  }
  return corrected;
}

}  // namespace stepscope
