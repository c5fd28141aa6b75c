// Tests of trend.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/trend.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "bench/measure/inference.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

// n (n - 1) (2n + 5) / 18 of n values, less the same of each group of equal values.
double variance_of_s(std::span<const double> values) {
  const auto term = [](double n) { return n * (n - 1.0) * (2.0 * n + 5.0) / 18.0; };
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  double variance = term(static_cast<double>(values.size()));
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto last = std::upper_bound(first, sorted.end(), *first);
    variance -= term(static_cast<double>(last - first));
    first = last;
  }
  return variance;
}

double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2.0;
}

}  // namespace

MannKendall mann_kendall(std::span<const double> values) {
  MannKendall test;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      test.s += (values[j] > values[i] ? 1 : 0) - (values[j] < values[i] ? 1 : 0);
    }
  }
  test.variance = variance_of_s(values);
  if (test.s == 0 || test.variance <= 0.0) return test;
  const auto s = static_cast<double>(test.s);
  test.z = (s - std::copysign(1.0, s)) / std::sqrt(test.variance);
  test.p = normal_two_sided(test.z);
  return test;
}

double theil_sen(std::span<const double> times, std::span<const double> values) {
  check(times.size() == values.size(), Fault::bad_input,
        "Theil-Sen: {} times and {} values, expected as many", times.size(), values.size());
  std::vector<double> slopes;
  slopes.reserve(times.size() * times.size() / 2);
  for (std::size_t i = 0; i < times.size(); ++i) {
    for (std::size_t j = i + 1; j < times.size(); ++j) {
      if (times[i] != times[j]) slopes.push_back((values[j] - values[i]) / (times[j] - times[i]));
    }
  }
  return slopes.empty() ? 0.0 : median_in_place(slopes);
}

double lag1_autocorrelation(std::span<const double> values) {
  if (values.size() < 3) return 0.0;
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0.0, products = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += (values[i] - mean) * (values[i] - mean);
    if (i > 0) products += (values[i] - mean) * (values[i - 1] - mean);
  }
  return squares > 0.0 ? products / squares : 0.0;
}

}  // namespace stepscope
