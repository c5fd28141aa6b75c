// The order of blocks and of backends.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/errors.h"

namespace stepscope::test {
namespace {

TEST(BlockPlan, EachPairHasAsManyAbbaAsBaab) {
  const std::vector<BlockPlan> plan = block_plan(3, 16, 1, 0);
  ASSERT_EQ(plan.size(), 48U);
  for (std::size_t pair = 0; pair < 3; ++pair) {
    EXPECT_EQ(std::count(plan.begin(), plan.end(), BlockPlan{.pair = pair, .abba = true}), 8);
    EXPECT_EQ(std::count(plan.begin(), plan.end(), BlockPlan{.pair = pair, .abba = false}), 8);
  }
}

TEST(BlockPlan, EachRoundHasOneBlockOfEachPairInAnOrderOfItsOwn) {
  const std::vector<BlockPlan> plan = block_plan(4, 20, 1, 0);
  std::set<std::vector<std::size_t>> orders;
  for (std::size_t round = 0; round < 20; ++round) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < 4; ++i) order.push_back(plan[4 * round + i].pair);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3})) << round;
  }
  EXPECT_GT(orders.size(), 5U);
}

TEST(BlockPlan, FollowsFromSeedAndProcess) {
  EXPECT_EQ(block_plan(2, 30, 7, 3), block_plan(2, 30, 7, 3));
  EXPECT_NE(block_plan(2, 30, 7, 3), block_plan(2, 30, 8, 3));
  EXPECT_NE(block_plan(2, 30, 7, 3), block_plan(2, 30, 7, 4));
  EXPECT_TRUE(block_plan(0, 30, 7, 3).empty());
}

// Strictly alternating orders would share the rhythm of anything periodic.
TEST(BlockPlan, OrdersAreShuffled) {
  const std::vector<BlockPlan> plan = block_plan(1, 60, 1, 0);
  int repeats = 0;
  for (std::size_t i = 1; i < plan.size(); ++i) repeats += plan[i].abba == plan[i - 1].abba;
  EXPECT_GT(repeats, 15);
  EXPECT_LT(repeats, 45);
}

TEST(BlockPlan, RefusesAnOddNumber) {
  EXPECT_EQ(error_of([] { block_plan(1, 15, 1, 0); }),
            "bad input: schedule: 15 blocks per pair, expected an even number: half run as ABBA, "
            "half as BAAB");
}

TEST(BackendOrder, OfTwoEachStartsFirstEquallyOften) {
  for (const std::size_t backends : {2U, 3U, 5U}) {
    for (std::int64_t process = 0; process < 10; process += 2) {
      std::vector<std::size_t> forth = backend_order(backends, 4, process);
      const std::vector<std::size_t> back = backend_order(backends, 4, process + 1);
      std::reverse(forth.begin(), forth.end());
      EXPECT_EQ(forth, back);
      std::sort(forth.begin(), forth.end());
      for (std::size_t i = 0; i < backends; ++i) EXPECT_EQ(forth[i], i);
    }
  }
}

TEST(BackendOrder, FollowsFromTheSeed) {
  EXPECT_EQ(backend_order(6, 4, 2), backend_order(6, 4, 2));
  EXPECT_NE(backend_order(6, 4, 2), backend_order(6, 5, 2));
  EXPECT_NE(backend_order(6, 4, 2), backend_order(6, 4, 4));
}

}  // namespace
}  // namespace stepscope::test
