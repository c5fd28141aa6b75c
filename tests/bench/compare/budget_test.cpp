// What a budget affords, worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/budget.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/errors.h"

namespace stepscope::test {
namespace {

// One backend: 2 s before the blocks, 0.25 s a round.
const std::vector<PilotCosts> kOne{{.fixed_s = 2.0, .round_s = 0.25}};

struct Case {
  double budget_s;
  std::int64_t processes, blocks;
  const char* claim;
};

class Budget : public testing::TestWithParam<Case> {};

TEST_P(Budget, AffordsBlocksThenProcesses) {
  const Case& c = GetParam();
  const ScheduleRecord schedule = plan_schedule(c.budget_s, 10.0, kOne, 99);
  EXPECT_EQ(schedule.processes, c.processes);
  EXPECT_EQ(schedule.blocks, c.blocks);
  EXPECT_EQ(schedule.claim, c.claim);
  EXPECT_EQ(schedule.budget_s, c.budget_s);
  EXPECT_EQ(schedule.seed, 99U);
  EXPECT_EQ(schedule.slot_ms, 5.0);
  EXPECT_DOUBLE_EQ(schedule.expected_s, 10.0 + static_cast<double>(c.processes) *
                                                   (2.0 + 0.25 * static_cast<double>(c.blocks)));
}
INSTANTIATE_TEST_SUITE_P(
    Budgets, Budget,
    testing::Values(Case{70.0, 10, 16, "published"},    // exactly 10 x (2 + 16 / 4)
                    Case{69.9, 9, 18, "working"},       // 6.66 s each: 18 blocks
                    Case{180.0, 10, 60, "published"},   // 17 s each: 60 blocks
                    Case{188.0, 11, 56, "published"},   // 10 would have 63: 11 of 16.18 s
                    Case{1000.0, 20, 60, "published"},  // no more than 20 of 60
                    Case{40.0, 5, 16, "working"},       // 6 s each
                    Case{39.0, 5, 14, "working"},       // 5.8 s each
                    Case{25.0, 5, 4, "working"},        // 3 s each
                    Case{24.9, 4, 6, "exploratory"},    // 3.72 s each
                    Case{13.0, 1, 4, "exploratory"},    // one process, as little as can be
                    Case{11.0, 1, 4, "exploratory"},    // more than the budget: it is said
                    Case{1.0, 1, 4, "exploratory"}));   // the pilot alone took more

// Processes of each backend: 3 + 1 s fixed, 0.1 + 0.15 s a round.
TEST(Budget, CountsEveryBackend) {
  const ScheduleRecord schedule = plan_schedule(
      90.0, 10.0, {{.fixed_s = 3.0, .round_s = 0.1}, {.fixed_s = 1.0, .round_s = 0.15}}, 1);
  EXPECT_EQ(schedule.processes, 10);
  EXPECT_EQ(schedule.blocks, 16);
  EXPECT_DOUBLE_EQ(schedule.expected_s, 90.0);
}

TEST(Budget, RoundsThatCostNothingAreStillBounded) {
  const ScheduleRecord schedule = plan_schedule(30.0, 0.0, {{.fixed_s = 1.0, .round_s = 0.0}}, 1);
  EXPECT_EQ(schedule.processes, 20);
  EXPECT_EQ(schedule.blocks, 60);
}

TEST(Budget, RefusesWhatIsNoTime) {
  EXPECT_EQ(error_of([] { plan_schedule(10.0, 1.0, {}, 1); }), "bad input: schedule: no backend");
  EXPECT_EQ(error_of([] { plan_schedule(-1.0, 1.0, kOne, 1); }),
            "bad input: schedule: the budget is -1 s, expected 0 or more");
  EXPECT_EQ(
      error_of([] { plan_schedule(10.0, std::numeric_limits<double>::quiet_NaN(), kOne, 1); }),
      "bad input: schedule: the pilot is nan s, expected 0 or more");
  EXPECT_EQ(error_of([] { plan_schedule(10.0, 1.0, {{.fixed_s = 1.0, .round_s = -2.0}}, 1); }),
            "bad input: schedule: a round of blocks is -2 s, expected 0 or more");
}

}  // namespace
}  // namespace stepscope::test
