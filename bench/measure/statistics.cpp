// Order statistics and what follows from them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "ops/base/check.h"

namespace stepscope {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  check(!values.empty(), Fault::bad_input, "statistics: the list is empty");
  for (std::size_t i = 0; i < values.size(); ++i) {
    check(std::isfinite(values[i]), Fault::bad_input, "statistics: value {} of {} is {}", i,
          values.size(), values[i]);
  }
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double quantile_of_sorted(std::span<const double> ascending, double p) {
  const double place = static_cast<double>(ascending.size() - 1) * p;
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double share = place - static_cast<double>(below);
  return ascending[below] + share * (ascending[above] - ascending[below]);
}

// The largest rank r for which order statistics r and n + 1 - r still cover the median, and how
// well: they miss it when fewer than r values lie on one side of it, each side with P(Binomial(n,
// 1/2) < r).
struct RankChoice {
  std::size_t rank = 0;  // 0: none does
  double coverage = 0.0;
};
RankChoice choose_rank(std::size_t n, double confidence) {
  RankChoice best;
  // C(n, k) / 2^n in logarithms: 2^-n alone leaves the range of double at n = 1075.
  double log_term = -static_cast<double>(n) * std::numbers::ln2;
  double below = 0.0;  // P(Binomial < rank)
  for (std::size_t rank = 1; 2 * rank <= n + 1; ++rank) {
    const std::size_t k = rank - 1;
    below += std::exp(log_term);
    const double coverage = 1.0 - 2.0 * below;
    if (coverage < confidence) break;
    best = {rank, coverage};
    log_term += std::log(static_cast<double>(n - k) / static_cast<double>(k + 1));
  }
  return best;
}

}  // namespace

double quantile(std::span<const double> values, double p) {
  check(p >= 0.0 && p <= 1.0, Fault::bad_input, "quantile: {} asked for, expected 0 to 1", p);
  return quantile_of_sorted(sorted(values), p);
}

double median(std::span<const double> values) { return quantile(values, 0.5); }

Outlier Summary::classify(double value) const {
  const double outside = std::max(q1 - value, value - q3);
  if (outside > 3.0 * iqr()) return Outlier::severe;
  if (outside > 1.5 * iqr()) return Outlier::mild;
  return Outlier::none;
}

Summary summarize(std::span<const double> values) {
  const std::vector<double> ascending = sorted(values);
  const auto count = static_cast<double>(ascending.size());
  Summary summary{.count = ascending.size(),
                  .mean = std::accumulate(ascending.begin(), ascending.end(), 0.0) / count,
                  .min = ascending.front(),
                  .q1 = quantile_of_sorted(ascending, 0.25),
                  .median = quantile_of_sorted(ascending, 0.5),
                  .q3 = quantile_of_sorted(ascending, 0.75),
                  .max = ascending.back()};
  for (const double value : ascending) {
    const Outlier outlier = summary.classify(value);
    summary.outliers.mild += outlier == Outlier::mild ? 1 : 0;
    summary.outliers.severe += outlier == Outlier::severe ? 1 : 0;
  }
  return summary;
}

std::optional<MedianInterval> median_interval(std::span<const double> values, double confidence) {
  check(confidence > 0.0 && confidence < 1.0, Fault::bad_input,
        "interval of the median: confidence {}, expected between 0 and 1", confidence);
  const std::vector<double> ascending = sorted(values);
  const auto [rank, coverage] = choose_rank(ascending.size(), confidence);
  if (rank == 0) return std::nullopt;
  return MedianInterval{.low = ascending[rank - 1],
                        .high = ascending[ascending.size() - rank],
                        .low_rank = rank,
                        .high_rank = ascending.size() + 1 - rank,
                        .coverage = coverage};
}

double ratio_of_medians(std::span<const double> of, std::span<const double> base) {
  const double base_median = median(base);
  check(base_median > 0.0, Fault::bad_input,
        "ratio of medians: the median of the base is {}, expected above 0", base_median);
  return median(of) / base_median;
}

}  // namespace stepscope
