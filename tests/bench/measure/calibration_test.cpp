// The calibration has every row, with quartiles, or with the reason why not.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/registry/registry.h"

namespace stepscope {
namespace {

const CalibrationRow& find(const std::vector<CalibrationRow>& rows, const std::string& name) {
  const auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const CalibrationRow& each) { return each.name == name; });
  EXPECT_NE(row, rows.end()) << name;
  return *row;
}

std::vector<CalibrationRow> calibrate_on(const std::string& backend_name, int threads) {
  SteadyTimer timer;
  const auto backend = Registry::builtin().make(backend_name, {.threads = threads});
  return calibrate(timer, *backend, threads, {.machine = false});
}

TEST(Calibration, HasTheRowsOfItsHeaderInOrder) {
  const std::vector<CalibrationRow> rows = calibrate_on("reference", 1);
  std::vector<std::string> names;
  for (const CalibrationRow& row : rows) {
    names.push_back(row.name);
    EXPECT_FALSE(row.unit.empty()) << row.name;
    EXPECT_FALSE(row.note.empty()) << row.name;
    EXPECT_EQ(row.value.has_value(), row.reason.empty()) << row.name;
    if (!row.value) continue;
    EXPECT_GE(row.low, 0.0) << row.name;
    EXPECT_LE(row.low, row.value) << row.name;
    EXPECT_LE(row.value, row.high) << row.name;
    EXPECT_GE(row.count, 5) << row.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "stamp_cost", "stamp_resolution", "empty_sync", "null_plan_per_op_eager",
                       "null_plan_per_op_planned", "null_plan_per_op_graph", "tape_empty_calls_1",
                       "tape_empty_calls_10", "tape_empty_calls_100", "tape_empty_calls_1000",
                       "tape_per_call_1", "tape_per_call_10", "tape_per_call_100",
                       "tape_per_call_1000", "library_call", "fork_join", "core_handshake"}));
  EXPECT_EQ(*find(rows, "tape_per_call_100").value,
            *find(rows, "tape_empty_calls_100").value / 100.0);
  EXPECT_EQ(find(rows, "library_call").note,
            "an op of one element: chain:100:1 on reference, in planned mode");
  EXPECT_EQ(find(rows, "fork_join").reason, "one thread: there is no team");
}

TEST(Calibration, ATeamIsOpenedWhereThereIsOne) {
  EXPECT_EQ(find(calibrate_on("reference", 2), "fork_join").reason,
            "reference has no team of threads");
  const auto names = Registry::builtin().names();
  if (std::find(names.begin(), names.end(), "eigen") == names.end()) GTEST_SKIP() << "no eigen";
  const CalibrationRow row = find(calibrate_on("eigen", 2), "fork_join");
  ASSERT_TRUE(row.value) << row.reason;
  EXPECT_GT(*row.value, 0.0);
  EXPECT_EQ(row.note, "an empty parallel region of 2 threads");
}

// Each stamp is a millisecond after the one before: every block is one call, and takes one.
TEST(Calibration, R_SYN_4_ValuesAreTimeOverCallsAndNothingIsSubtracted) {
  class MillisecondTimer final : public Timer {
   public:
    std::int64_t now() override { return now_ += 1'000'000; }

   private:
    std::int64_t now_ = 0;
  } timer;
  const auto backend = Registry::builtin().make("null", {});
  const std::vector<CalibrationRow> rows = calibrate(timer, *backend, 1, {.machine = false});
  EXPECT_EQ(find(rows, "stamp_cost").value, 2e6);  // the stamp that was timed, and the closing one
  EXPECT_EQ(find(rows, "stamp_resolution").value, 1e6);
  EXPECT_EQ(find(rows, "empty_sync").value, 1e6);
  EXPECT_EQ(find(rows, "null_plan_per_op_eager").value, 1e4);
  EXPECT_EQ(find(rows, "tape_empty_calls_1000").value, 1e6);
  EXPECT_EQ(find(rows, "tape_per_call_1000").value, 1e3);
  EXPECT_EQ(find(rows, "library_call").value, 1e4);
  EXPECT_EQ(find(rows, "library_call").count, 18);  // of 21: 50 ms were over
}

}  // namespace
}  // namespace stepscope
