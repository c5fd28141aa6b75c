// Bounds follow from rates by arithmetic alone, and of several probes the fastest counts.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/limits.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;

CalibrationRow row_of(const char* name, double value, std::int64_t count) {
  CalibrationRow row;
  row.name = name;
  row.value = value;
  row.count = count;
  return row;
}

CalibrationRow with_quartiles(const char* name, double low, double value, double high) {
  CalibrationRow row = row_of(name, value, 9);
  row.low = low;
  row.high = high;
  return row;
}

// 100 GFLOP/s; 200, 80, 20, 10 GB/s; 48 KiB, 2 MiB, 64 MiB.
MachineLimits limits() {
  MachineLimits limits;
  limits.flops_per_second = 100e9;
  limits.bytes_per_second = {200e9, 80e9, 20e9, 10e9};
  limits.caches = {48 * kKiB, 2 * kMiB, 64 * kMiB, "a test"};
  return limits;
}

TEST(KeepBest, OfTwoProbesTheFasterStays) {
  std::vector<CalibrationRow> rows;
  keep_best(rows, row_of("fma_peak_best", 90.0, 5));
  keep_best(rows, row_of("bandwidth_best_l1", 200.0, 7));
  keep_best(rows, row_of("fma_peak_best", 110.0, 6));
  keep_best(rows, row_of("fma_peak_best", 100.0, 8));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].value, 110.0);
  EXPECT_EQ(rows[0].count, 19);
  EXPECT_EQ(rows[1].value, 200.0);
  EXPECT_TRUE(is_best(rows[0]));
  EXPECT_TRUE(is_best(rows[1]));
  EXPECT_FALSE(is_best(row_of("fma_peak", 1.0, 1)));
  EXPECT_FALSE(is_best(row_of("bandwidth_read_l1", 1.0, 1)));
}

TEST(LimitsOf, TakesTheHighestThatIsKnownOfEachRate) {
  const std::vector<CalibrationRow> rows = {
      with_quartiles("fma_peak", 80.0, 90.0, 95.0),
      row_of("fma_peak_best", 110.0, 5),
      with_quartiles("bandwidth_read_l1", 180.0, 190.0, 200.0),
      with_quartiles("bandwidth_read_write_l1", 210.0, 220.0, 230.0),
      row_of("bandwidth_best_l1", 225.0, 5),
      with_quartiles("bandwidth_read_dram", 9.0, 10.0, 11.0),
      CalibrationRow{.name = "bandwidth_read_l3", .reason = "no such level"}};
  const MachineLimits found = limits_of(rows, {1, 2, 3, "a test"});
  EXPECT_EQ(found.flops_per_second, 110e9);
  EXPECT_EQ(found.bytes_per_second, (std::array{230e9, 0.0, 0.0, 11e9}));
  EXPECT_EQ(found.caches.l2, 2U);
  EXPECT_EQ(limits_of({}, {}).flops_per_second, 0.0);
}

TEST(ArithmeticBound, IsOperationsOverTheRateOfAllThreads) {
  EXPECT_EQ(arithmetic_bound_us(limits(), {.flops = 5e9}), 50000.0);
  EXPECT_EQ(arithmetic_bound_us(limits(), {.flops = 5e9, .threads = 2}), 25000.0);
  EXPECT_EQ(arithmetic_bound_us(limits(), {.flops = 0.0}), std::nullopt);
  EXPECT_EQ(arithmetic_bound_us({}, {.flops = 5e9}), std::nullopt);
}

TEST(BandwidthBound, AllThatMovesPassesTheFirstLevel) {
  EXPECT_EQ(bandwidth_bound_us(limits(), {.moved_bytes = 2e9}), 10000.0);
  EXPECT_EQ(bandwidth_bound_us(limits(), {.moved_bytes = 2e9, .threads = 2}), 5000.0);
  EXPECT_EQ(bandwidth_bound_us(limits(), {}), std::nullopt);
  EXPECT_EQ(bandwidth_bound_us({}, {.moved_bytes = 2e9}), std::nullopt);
}

// What the caches hold from step to step comes from no farther level; the rest must, each step.
TEST(BandwidthBound, WhatCachesCannotHoldPassesTheLevelBehindThem) {
  const auto bytes = [](std::size_t number) { return static_cast<double>(number); };
  const double moved = bytes(kMiB);
  const auto bound = [&](std::size_t distinct, int threads = 1) {
    return *bandwidth_bound_us(
        limits(), {.moved_bytes = moved, .distinct_bytes = bytes(distinct), .threads = threads});
  };
  EXPECT_EQ(bound(48 * kKiB), moved / 200e9 * 1e6);
  EXPECT_EQ(bound(kMiB), bytes(kMiB - 48 * kKiB) / 80e9 * 1e6);
  EXPECT_EQ(bound(8 * kMiB), bytes(6 * kMiB - 48 * kKiB) / 20e9 * 1e6);
  EXPECT_EQ(bound(1024 * kMiB), bytes(958 * kMiB - 48 * kKiB) / 10e9 * 1e6);
  // Two cores hold twice as much in theirs, and move twice as much.
  EXPECT_EQ(bound(8 * kMiB, 2), bytes(4 * kMiB - 96 * kKiB) / 40e9 * 1e6);
}

TEST(BandwidthBound, ALevelThatWasNotProbedIsLeftOut) {
  MachineLimits some = limits();
  some.bytes_per_second[2] = 0.0;
  EXPECT_EQ(bandwidth_bound_us(some, {.moved_bytes = 1e6, .distinct_bytes = 8.0 * 1048576.0}),
            (8.0 * 1048576.0 - 48.0 * 1024.0) / 80e9 * 1e6);
}

// How fast a machine is no test can say.
TEST(Probes, AreRowsWithoutQuartiles) {
  SteadyTimer timer;
  std::vector<CalibrationRow> rows =
      probe_caches(timer, {32 * kKiB, 256 * kKiB, 0, "a test"}, std::chrono::milliseconds(1));
  rows.push_back(probe_arithmetic(std::chrono::milliseconds(1)));
  std::vector<std::string> names;
  for (const CalibrationRow& row : rows) {
    names.push_back(row.name);
    EXPECT_TRUE(is_best(row));
    EXPECT_GT(row.value.value_or(0.0), 0.0);
    EXPECT_FALSE(row.low || row.high);
    EXPECT_GE(row.count, 5);
    EXPECT_FALSE(row.unit.empty() || row.note.empty());
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"bandwidth_best_l1", "bandwidth_best_l2", "fma_peak_best"}));
}

}  // namespace
}  // namespace stepscope
