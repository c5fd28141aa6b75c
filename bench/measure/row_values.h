// Median and quartiles of samples into a row of the calibration.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/measure/statistics.h"
#include "bench/record/samples.h"

namespace stepscope {

inline void fill(CalibrationRow& row, const std::vector<double>& values) {
  row.value = median(values);
  row.low = quantile(values, 0.25);
  row.high = quantile(values, 0.75);
  row.count = static_cast<std::int64_t>(values.size());
}

}  // namespace stepscope
