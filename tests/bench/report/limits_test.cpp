// The ceilings of a report and the bounds of a measurement take one rate from a calibration: the
// two are made apart, since a report measures nothing.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/limits.h"

#include <gtest/gtest.h>

#include "bench/report/roofline.h"

namespace stepscope {
namespace {

void expect_equal(const std::vector<CalibrationRow>& rows) {
  Record record;
  record.calibration = rows;
  const Ceilings ceilings = ceilings_of(record);
  const MachineLimits limits = limits_of(rows, {});
  EXPECT_DOUBLE_EQ(1e9 * ceilings.gflops.value_or(0.0), limits.flops_per_second);
  std::size_t known = 0;
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    if (limits.bytes_per_second[i] == 0.0) continue;
    ASSERT_LT(known, ceilings.bandwidths.size());
    EXPECT_EQ(ceilings.bandwidths[known].level, kLevels[i]);
    EXPECT_DOUBLE_EQ(1e9 * ceilings.bandwidths[known].gb_per_s, limits.bytes_per_second[i]);
    ++known;
  }
  EXPECT_EQ(known, ceilings.bandwidths.size());
}

TEST(Limits, OfAReportAndOfAMeasurementAreEqual) {
  expect_equal({});
  expect_equal({{"fma_peak", "GFLOP/s", 160.0, 157.0, 166.0, 9, "", ""},
                {"bandwidth_read_l1", "GB/s", 190.0, 180.0, 210.0, 20, "", ""},
                {"bandwidth_read_write_l1", "GB/s", 195.0, 180.0, 205.0, 20, "", ""},
                {"bandwidth_read_dram", "GB/s", 13.3, 12.8, 13.9, 9, "", ""}});
  expect_equal({{"fma_peak", "GFLOP/s", 160.0, 157.0, 166.0, 9, "", ""},
                {"fma_peak_best", "GFLOP/s", 171.0, {}, {}, 20, "", ""},
                {"bandwidth_best_l2", "GB/s", 100.0, {}, {}, 20, "", ""},
                {"bandwidth_read_l2", "GB/s", {}, {}, {}, 0, "", "not run"},
                {"bandwidth_best_l3", "GB/s", 50.0, {}, {}, 20, "", ""},
                {"bandwidth_read_write_l3", "GB/s", 45.0, 40.0, 60.0, 20, "", ""}});
}

}  // namespace
}  // namespace stepscope
