// Numbers as people read them: three significant digits and a unit; and the median of a list.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/record/record.h"

namespace stepscope {

inline constexpr const char* kNotMeasured = "not measured";

// 12.3 us, 4.56 ms
std::string time_text(double ns);
// 407 KiB, 12.3 MiB
std::string bytes_text(double bytes);
// Three significant digits without exponent.
std::string digits_text(double value);
// 0.912: of ratios
std::string ratio_text(double ratio);

// "not measured" where there is none.
std::string time_text(const std::optional<double>& ns);
std::string us_text(const std::optional<Interval>& us);  // the estimate
// Requires: not empty.
double median_of(std::vector<double> values);

// 0.905 .. 0.920; empty without both ends
std::string range_text(const Interval& interval);

}  // namespace stepscope
