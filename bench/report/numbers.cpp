// Scaling numbers to units.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace stepscope {
namespace {

template <std::size_t N>
std::string scaled(double value, double step, const std::array<const char*, N>& units) {
  std::size_t unit = 0;
  while (unit + 1 < N && std::abs(value) >= step) {
    value /= step;
    ++unit;
  }
  return fmt::format("{} {}", digits_text(value), units[unit]);
}

}  // namespace

std::string digits_text(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size >= 100.0 ? 0 : size >= 10.0 ? 1 : 2);
}

std::string time_text(double ns) { return scaled(ns, 1000.0, std::array{"ns", "us", "ms", "s"}); }

std::string bytes_text(double bytes) {
  return scaled(bytes, 1024.0, std::array{"B", "KiB", "MiB", "GiB"});
}

std::string ratio_text(double ratio) { return fmt::format("{:.3f}", ratio); }

std::string time_text(const std::optional<double>& ns) {
  return ns ? time_text(*ns) : kNotMeasured;
}

std::string us_text(const std::optional<Interval>& us) {
  return us ? time_text(us->estimate * 1000.0) : kNotMeasured;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

std::string range_text(const Interval& interval) {
  if (!interval.low || !interval.high) return {};
  return fmt::format("{} .. {}", ratio_text(*interval.low), ratio_text(*interval.high));
}

}  // namespace stepscope
