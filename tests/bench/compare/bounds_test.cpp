// A bound stands in a record only where nothing that was measured undercuts it, and a reason where
// there is none.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/bounds.h"

#include <gtest/gtest.h>

#include "bench/compare/merge.h"
#include "bench/measure/validate.h"

namespace stepscope {
namespace {

CacheSizes caches() { return {.l1 = 48 * 1024, .l2 = 2 * 1024 * 1024, .l3 = 0, .source = "test"}; }

CalibrationRow best(const char* name, double value) {
  CalibrationRow row;
  row.name = name;
  row.value = value;
  row.count = 5;
  return row;
}

Samples list_of(std::string_view method, std::int64_t steps, std::vector<std::int64_t> elapsed) {
  Samples samples{.process = 1, .method = std::string(method), .steps_per_sample = steps};
  for (std::size_t i = 0; i < elapsed.size(); ++i) {
    samples.start_ns.push_back(static_cast<std::int64_t>(i) * 1'000'000);
  }
  samples.elapsed_ns = std::move(elapsed);
  return samples;
}

// A step of 1 MFLOP and 100 kB that took 20 us at least: 50 GFLOP/s, 5 GB/s.
ArmRecord arm() {
  ArmRecord arm{.name = "eigen/planned/off/1", .backend = "eigen"};
  arm.flops = 1e6;
  arm.fewest_bytes = 1e5;
  arm.model_bytes = 60'000;
  arm.latency.push_back(list_of(method::kLatency, 1, {30'000, 20'000, 25'000}));
  arm.input_copy.push_back(list_of(method::kLatency, 1, {10, 10, 10}));
  arm.throughput.push_back(list_of(method::kThroughput, 10, {240'000, 230'000, 250'000}));
  return arm;
}

Record part_of(std::int64_t process, std::vector<CalibrationRow> rows) {
  Record part;
  part.processes.push_back({.process = process, .backend = "eigen"});
  part.calibration = std::move(rows);
  part.arms.push_back(arm());
  return part;
}

UtilizationRecord bounds_by(std::vector<CalibrationRow> rows) {
  Record record;
  add_process(record, part_of(1, std::move(rows)));
  complete_record(record, caches());
  return record.arms.at(0).utilization;
}

// The arm as the base of a pair, with slots of two steps.
PairRecord pair_with_slot(std::int64_t fastest_ns) {
  TimedBlock block{.order = "ABBA", .stratum = "single"};
  for (TimedSlot& slot : block.slots) slot.elapsed_ns = 80'000;
  block.slots[3].elapsed_ns = fastest_ns;
  PairRecord pair{.base = "eigen/planned/off/1", .of = "eigen/planned/off/1"};
  pair.processes.push_back({.process = 1, .base_steps = 2, .of_steps = 2, .blocks = {block}});
  return pair;
}

constexpr const char* kReason = "a backend of the processor: no device counts for it";

TEST(Bounds, AreWorkOverTheBestRates) {
  const UtilizationRecord use =
      bounds_by({best("fma_peak_best", 100.0), best("bandwidth_best_l1", 200.0),
                 best("bandwidth_best_l2", 50.0)});
  EXPECT_DOUBLE_EQ(use.arith_lower_bound_us.value(), 10.0);
  // All bytes at the first level's rate: 0.5 us; what is more than its 48 KiB, at the second's.
  EXPECT_DOUBLE_EQ(use.bandwidth_lower_bound_us.value(), 0.5);
  EXPECT_EQ(use.reason, kReason);
  EXPECT_FALSE(use.device_busy_us);
}

// A probe in a slow minute is no peak; one such process among others harms nothing.
TEST(Bounds, TakeTheBestProbeOfAllProcesses) {
  Record record;
  add_pilot(record, part_of(0, {best("fma_peak_best", 40.0)}));
  add_process(record, part_of(1, {best("fma_peak_best", 80.0)}));
  add_process(record, part_of(2, {best("fma_peak_best", 45.0)}));
  complete_record(record, caches());
  ASSERT_EQ(record.calibration.size(), 1U);
  EXPECT_EQ(record.calibration[0].value, 80.0);
  EXPECT_EQ(record.calibration[0].count, 15);
  EXPECT_DOUBLE_EQ(record.arms.at(0).utilization.arith_lower_bound_us.value(), 12.5);
}

TEST(Bounds, AFasterStepThanAnyProbeAllowsIsSaidAndNoBoundIsGiven) {
  const UtilizationRecord use =
      bounds_by({best("fma_peak_best", 49.9), best("bandwidth_best_l1", 4.0)});
  EXPECT_FALSE(use.arith_lower_bound_us);
  EXPECT_FALSE(use.bandwidth_lower_bound_us);
  EXPECT_EQ(
      use.reason,
      std::string(kReason) +
          "; no bound by arithmetic: 20.04 us by the best probe, and the fastest step took 20 "
          "us: the processor was slower in every probe; no bound by bandwidth: 25 us by the "
          "best probe, and the fastest step took 20 us: the processor was slower in every "
          "probe");
}

TEST(Bounds, WithoutAProbeThereIsAReason) {
  EXPECT_EQ(bounds_by({}).reason,
            std::string(kReason) +
                "; no bound by arithmetic: no rate was probed, or its ops count none; no bound by "
                "bandwidth: no rate was probed, or its ops count none");
}

TEST(Bounds, WhatComputesNothingHasNone) {
  ArmRecord idle = arm();
  idle.utilization.reason = "the backend computes nothing";
  add_bounds(idle, {.flops_per_second = 1e9, .caches = caches()});
  EXPECT_FALSE(idle.utilization.arith_lower_bound_us);
  EXPECT_EQ(idle.utilization.reason, "the backend computes nothing");
}

// Ops that pick rows of a table need not touch all of it.
TEST(Bounds, ASegmentLargerThanWhatMovesIsNotCountedAsTouched) {
  ArmRecord rows = arm();
  rows.latency_summary = {.count = 1, .min_ns = 20'000};
  rows.model_bytes = 1'000'000'000;
  MachineLimits limits{.flops_per_second = 1e12, .caches = caches()};
  limits.bytes_per_second = {100e9, 1e9, 0.0, 1e9};
  add_bounds(rows, limits);
  EXPECT_DOUBLE_EQ(rows.utilization.bandwidth_lower_bound_us.value(), 1.0);
}

// Rows of the first process stay in front; of later ones a backend's own are added.
TEST(AddProcess, MergesCalibrationsWithTheBestRowsBehind) {
  Record record;
  const auto rows = [](double peak) {
    return std::vector{best("stamp_cost", 1.0), best("library_call", 2.0),
                       best("fma_peak_best", peak)};
  };
  add_pilot(record, part_of(0, rows(1.0)));
  add_pilot(record, part_of(0, rows(2.0)));
  std::vector<std::string> names;
  for (const CalibrationRow& row : record.calibration) names.push_back(row.name);
  EXPECT_EQ(names, (std::vector<std::string>{"stamp_cost", "library_call", "library_call/eigen",
                                             "fma_peak_best"}));
  EXPECT_EQ(record.calibration.back().value, 2.0);
}

TEST(AddProcess, RowsOfTheFirstBackendBearItsNameBesideOthers) {
  Record record;
  const auto names = [&] {
    std::vector<std::string> all;
    for (const CalibrationRow& row : record.calibration) all.push_back(row.name);
    return all;
  };
  for (const char* backend : {"reference", "cuda-sim", "null"}) {
    Record part = part_of(0, {best("stamp_cost", 1.0), best("library_call", 2.0)});
    part.processes.front().backend = backend;
    part.backends = {{backend, {}}};
    add_pilot(record, std::move(part));
    if (record.backends.size() == 1) {
      EXPECT_EQ(names(), (std::vector<std::string>{"stamp_cost", "library_call"}));
    }
  }
  EXPECT_EQ(names(), (std::vector<std::string>{"stamp_cost", "library_call/reference",
                                               "library_call/cuda-sim", "library_call/null"}));
}

// A slot is a measured step too: 2 steps in 18 us undercut the 10 us of 1 MFLOP at 100 GFLOP/s.
TEST(Bounds, ASlotMayUndercutABoundToo) {
  for (const std::int64_t slot_ns : {22'000, 18'000}) {
    Record record;
    Record part = part_of(1, {best("fma_peak_best", 100.0)});
    part.pairs.push_back(pair_with_slot(slot_ns));
    add_process(record, std::move(part));
    complete_record(record, caches());
    const UtilizationRecord use = record.arms.at(0).utilization;
    EXPECT_EQ(use.arith_lower_bound_us.has_value(), slot_ns == 22'000) << use.reason;
    if (slot_ns == 18'000) {
      EXPECT_NE(use.reason.find("the fastest step took 9 us"), std::string::npos) << use.reason;
    }
  }
}

}  // namespace
}  // namespace stepscope
