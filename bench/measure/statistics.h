// Statistics of lists of numbers: what a report prints beside a median. Drops nothing: an outlier
// is a label, since it may be the true upper tail.
//
// Every function takes the raw list in any order and throws bad_input for an empty list or a number
// that is not finite.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace stepscope {

// Quantile p, 0 <= p <= 1, of type 7: linear between the order statistics around (n - 1) p, counted
// from 0. NumPy's and R's default. Of the nine types only one may be compared with itself, so
// records name it. Source: R. Hyndman, Y. Fan, "Sample quantiles in statistical packages", The
// American Statistician 50 (1996).
double quantile(std::span<const double> values, double p);
double median(std::span<const double> values);

// By Tukey's fences: mild beyond 1.5, severe beyond 3 interquartile ranges outside the quartiles;
// on a fence is inside.
enum class Outlier : std::uint8_t { none, mild, severe };

struct OutlierCounts {
  std::size_t mild = 0, severe = 0;
  friend bool operator==(const OutlierCounts&, const OutlierCounts&) = default;
};

// An interval for the median of what the list was drawn from, whatever its distribution, if the
// draws are independent: two order statistics, by the binomial distribution with p = 1/2.
struct MedianInterval {
  double low = 0.0, high = 0.0;
  std::size_t low_rank = 0, high_rank = 0;  // of the ends, counted from 1 in ascending order
  double coverage = 0.0;  // the true probability: at least what was asked for, as ranks are whole
};

struct Summary {
  std::size_t count = 0;
  double mean = 0.0;
  double min = 0.0, q1 = 0.0, median = 0.0, q3 = 0.0, max = 0.0;  // quartiles of type 7
  OutlierCounts outliers;

  double iqr() const { return q3 - q1; }
  Outlier classify(double value) const;
};
Summary summarize(std::span<const double> values);

// The narrowest such interval, symmetric in ranks, that covers the median with at least
// `confidence`, in (0, 1). Nothing when even (min, max) covers less: 95 % needs six values.
std::optional<MedianInterval> median_interval(std::span<const double> values,
                                              double confidence = 0.95);

// median(of) / median(base). Throws bad_input unless the base is above 0. A report prints it with
// the base named and both medians beside it.
double ratio_of_medians(std::span<const double> of, std::span<const double> base);

}  // namespace stepscope
