// Ceilings from the calibration, points from arms.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace stepscope {
namespace {

// The highest of these rows: their value where it is a best one, else their upper quartile.
std::optional<double> highest(const Record& record, std::initializer_list<std::string> names) {
  std::optional<double> most;
  for (const CalibrationRow& row : record.calibration) {
    if (!row.value || std::find(names.begin(), names.end(), row.name) == names.end()) continue;
    const double rate = row.high.value_or(*row.value);
    if (!most || rate > *most) most = rate;
  }
  return most;
}

}  // namespace

Ceilings ceilings_of(const Record& record) {
  Ceilings ceilings;
  ceilings.gflops = highest(record, {"fma_peak", "fma_peak_best"});
  for (const std::string level : {"l1", "l2", "l3", "dram"}) {
    const std::optional<double> rate = highest(
        record, {fmt::format("bandwidth_best_{}", level), fmt::format("bandwidth_read_{}", level),
                 fmt::format("bandwidth_read_write_{}", level)});
    if (rate) ceilings.bandwidths.push_back({level, *rate});
  }
  return ceilings;
}

std::optional<RooflinePoint> roofline_point(const ArmRecord& arm) {
  if (arm.simulated) return std::nullopt;  // a rate would be one of the model
  const double ns = arm.throughput_summary.median_ns;
  if (arm.throughput_summary.count == 0 || ns <= 0.0) return std::nullopt;
  if (arm.flops <= 0.0 || arm.fewest_bytes <= 0.0) return std::nullopt;
  return RooflinePoint{arm.flops / arm.fewest_bytes, arm.flops / ns, arm.fewest_bytes / ns};
}

}  // namespace stepscope
