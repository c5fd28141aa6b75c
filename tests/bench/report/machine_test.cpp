// What is said of bounds and of the use of the machine: numbers, and the right reason where there
// is none.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/report/runs.h"
#include "bench/report/tables.h"
#include "tests/bench/report/full_record.h"
#include "tests/bench/report/records.h"

namespace stepscope {
namespace {

constexpr const char* kDevice = "a backend of the processor: no device counts for it";
constexpr const char* kSlower =
    "20.04 us by the best probe, and the fastest step took 20 us: the processor was slower in "
    "every probe";
constexpr const char* kUnprobed = "no rate was probed, or its ops count none";

// As bench/compare/bounds.h tells of arms that have none.
Record without_bounds() {
  Record record = test::decided();
  for (ArmRecord& arm : record.arms) {
    arm.utilization.reason = std::string(kDevice) + "; no bound by arithmetic: " + kSlower +
                             "; no bound by bandwidth: " + kUnprobed;
  }
  return record;
}

TEST(Percent, WhatWasMeasuredIsNotShownAsNothing) {
  EXPECT_EQ(percent_cell(0.987).text, "98.7 %");
  EXPECT_EQ(percent_cell(0.0).text, "0.0 %");
  EXPECT_EQ(percent_cell(0.0005).text, "0.1 %");
  EXPECT_EQ(percent_cell(0.0004).text, "<0.1 %");
  EXPECT_DOUBLE_EQ(*percent_cell(0.0004).value, 0.04);
  EXPECT_EQ(percent_cell({}).text, "not measured");
}

TEST(Bounds, DroppedOnAllArmsEachHasItsOwnReason) {
  const Record record = without_bounds();
  EXPECT_TRUE(utilization_table(record).empty());
  EXPECT_EQ(unused_quantities(record),
            (std::vector<std::string>{
                std::string("arithmetic lower bound: not measured (eigen/eager/off/1: ") + kSlower +
                    "; and 5 more arms)",
                std::string("bandwidth lower bound: not measured (eigen/eager/off/1: ") +
                    kUnprobed + "; and 5 more arms)",
                std::string("device busy, kernel-active fraction, occupancy, active SM fraction: "
                            "not measured (") +
                    kDevice + ")"}));
}

// A reason of one backend is no other's: a line for each, and each named.
TEST(Bounds, ReasonsOfSeveralBackendsAreNamed) {
  Record record = test::decided();
  Record other = test::decided("cuda-sim");
  for (ArmRecord& arm : other.arms) arm.simulated = true;
  test::add_backend(record, other);
  for (ArmRecord& arm : record.arms) {
    arm.utilization.reason = arm.simulated ? "no time of cuda-sim is one of a GPU" : kDevice;
  }
  const std::vector<std::string> lines = unused_quantities(record);
  const std::string rest =
      "device busy, kernel-active fraction, occupancy, active SM fraction: not measured (";
  for (const std::string& why :
       {std::string("cuda-sim (simulated): no time of cuda-sim is one of a GPU)"),
        std::string("eigen: ") + kDevice + ")"}) {
    EXPECT_NE(std::find(lines.begin(), lines.end(), rest + why), lines.end()) << why;
  }
}

TEST(Bounds, OfEachBackendTheFirstArmIsNamed) {
  Record record = without_bounds();
  Record other = test::decided("onednn");
  for (ArmRecord& arm : other.arms) {
    arm.utilization.reason = std::string(kDevice) + "; no bound by arithmetic: none is known";
  }
  test::add_backend(record, other);
  const std::vector<std::string> lines = unused_quantities(record);
  for (const std::string& why : {std::string("eigen/eager/off/1: ") + kSlower,
                                 std::string("onednn/eager/off/1: none is known")}) {
    EXPECT_NE(std::find(lines.begin(), lines.end(),
                        "arithmetic lower bound: not measured (" + why + "; and 5 more arms)"),
              lines.end())
        << why;
  }
}

TEST(Bounds, DroppedOnOneArmAreSaidBelowTheTable) {
  Record record = without_bounds();
  for (ArmRecord& arm : record.arms) {
    arm.utilization.reason = kDevice;
    arm.utilization.arith_lower_bound_us = 5.0;
  }
  ArmRecord& last = record.arms.back();
  last.utilization.reason = std::string(kDevice) + "; no bound by arithmetic: " + kSlower;
  last.utilization.arith_lower_bound_us = {};
  const Table table = utilization_table(record);
  EXPECT_EQ(table.notes,
            (std::vector<std::string>{"no arithmetic lower bound: " + last.name + ": " + kSlower}));
  EXPECT_EQ(unused_quantities(record).front(), "bandwidth lower bound: not measured");
}

// Between backends there are no blocks: the times are those of lists.
TEST(BetweenBackends, TimesAreNotCalledThoseOfBlocks) {
  const Table table = between_table(test::full());
  const auto has_key = [&](std::string_view key) {
    return std::any_of(table.columns().begin(), table.columns().end(),
                       [&](const Table::Column& each) { return each.key == key; });
  };
  EXPECT_TRUE(has_key("base_list_time") && has_key("arm_list_time"));
  EXPECT_FALSE(has_key("base_time") || has_key("arm_time"));
}

}  // namespace
}  // namespace stepscope
