// Plans as a whole: checked on paper by code that shares nothing with the planner, and close to a
// bound that is computed again from scratch.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/passes/pass.h"
#include "graph/plan/plan.h"
#include "ops/models/model.h"
#include "tests/support/plan_check.h"
#include "tests/support/random_step.h"

namespace stepscope {
namespace {

using test::bound_of;
using test::plan_of;
using test::Step;
using test::step_of;

double ratio(std::size_t a, std::size_t b) {
  return b == 0 ? 1.0 : static_cast<double>(a) / static_cast<double>(b);
}

// ---- Random steps: no byte of a value is lost before its last reader had it.

class RandomPlans : public testing::TestWithParam<InPlace> {};

TEST_P(RandomPlans, RunOnPaper) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Step step = test::random_step(seed);
    for (const std::size_t alignment : {64, 256}) {
      const Plan plan = plan_of(step, {.alignment = alignment, .in_place = GetParam()});
      ASSERT_EQ(test::first_fault(plan, step.needs), "") << "seed " << seed;
      ASSERT_EQ(plan.bytes.bound, bound_of(plan, step.needs)) << "seed " << seed;
      ASSERT_GE(plan.bytes.arena, bound_of(plan, step.needs, alignment)) << "seed " << seed;
      ASSERT_LE(plan.bytes.arena, plan.bytes.no_reuse) << "seed " << seed;
      ASSERT_EQ(plan.dies_after, test::deaths_of(*step.graph)) << "seed " << seed;
    }
  }
}

TEST_P(RandomPlans, AreTheSameEachTime) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Plan first = plan_of(test::random_step(seed), {.in_place = GetParam()});
    const Plan second = plan_of(test::random_step(seed), {.in_place = GetParam()});
    EXPECT_EQ(first.slots, second.slots);
    EXPECT_EQ(first.scratch, second.scratch);
    EXPECT_EQ(first.memory_of, second.memory_of);
  }
}

INSTANTIATE_TEST_SUITE_P(InPlace, RandomPlans, testing::Values(InPlace::off, InPlace::on),
                         [](const auto& each) { return each.param == InPlace::on ? "on" : "off"; });

// ---- Close to the bound.

class MlpPlans : public testing::TestWithParam<std::int64_t> {};

TEST_P(MlpPlans, StayWithinATenthOfTheBound) {
  const Graph described = make_model("mlp").step(GetParam());
  const Graph scheduled = run_passes(described, standard_passes()).graph;
  for (const Graph& graph : {described, scheduled}) {
    for (const InPlace in_place : {InPlace::off, InPlace::on}) {
      const Step step = step_of(graph);
      const Plan plan = plan_of(step, {.in_place = in_place});
      EXPECT_EQ(test::first_fault(plan, step.needs), "");
      EXPECT_EQ(plan.bytes.bound, bound_of(plan, step.needs));
      EXPECT_LE(ratio(plan.bytes.arena, plan.bytes.bound), 1.10);
      EXPECT_LE(ratio(plan.bytes.arena, bound_of(plan, step.needs, 64)), 1.02) << "rounding apart";
    }
  }
}

TEST_P(MlpPlans, TheScheduleLowersTheBound) {
  const Graph described = simplify(make_model("mlp").step(GetParam()));
  const Graph scheduled = run_passes(described, standard_passes()).graph;
  const auto bound = [](const Graph& graph) { return plan_of(step_of(graph)).bytes.bound; };
  EXPECT_LT(bound(scheduled), bound(described));
}

INSTANTIATE_TEST_SUITE_P(Batch, MlpPlans, testing::Values(1, 32, 1024));

TEST(CnnPlans, StayWithinATwentiethOfTheBoundAndNearlyAlwaysWithinTwoPercent) {
  int plans = 0;
  int above = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const std::int64_t batch : {1, 32, 1024}) {
      const Step step = test::random_cnn(seed, batch);
      for (const InPlace in_place : {InPlace::off, InPlace::on}) {
        const Plan plan = plan_of(step, {.in_place = in_place});
        const double over = ratio(plan.bytes.arena, bound_of(plan, step.needs, 64));
        EXPECT_LE(over, 1.05) << "seed " << seed << ", batch " << batch;
        ++plans;
        if (over > 1.02) ++above;
      }
    }
  }
  EXPECT_LE(above, plans / 100);
}

TEST(CnnPlans, ReuseMemory) {
  const Plan plan = plan_of(test::random_cnn(1, 1024), {.in_place = InPlace::off});
  EXPECT_GE(ratio(plan.bytes.no_reuse, plan.bytes.arena), 1.5);
}

// A planner that compares each pair of values would need minutes here.
TEST(LongPlans, AChainOfAHundredThousandOpsTakesTwoSlots) {
  const Graph chain = make_model("chain:100000").step(1);
  const Plan apart = plan_of(step_of(chain), {.in_place = InPlace::off});
  EXPECT_EQ(apart.bytes.arena, 2 * 1024U);
  EXPECT_EQ(apart.bytes.no_reuse, 100'000 * 1024U);
  const Plan in_place = plan_of(step_of(chain));
  EXPECT_EQ(in_place.bytes.arena, 1024U);
  EXPECT_EQ(in_place.bytes.bound, 1024U);
  EXPECT_EQ(in_place.bytes.no_reuse, 100'000 * 1024U);
}

}  // namespace
}  // namespace stepscope
