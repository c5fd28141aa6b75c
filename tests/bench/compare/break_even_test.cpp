// Steps to break even, by hand.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/break_even.h"

#include <gtest/gtest.h>

#include "tests/bench/compare/simulated.h"

namespace stepscope::test {
namespace {

constexpr std::int64_t kUs = 1000;

// Eager pays 100 us for its first step; a graph 500 to compile, 300 to capture, 200 to instantiate,
// 100 to upload and 200 for its first replay: 1,200 us more.
struct Costs {
  ArmRecord eager = arm("eager"), graph = arm("graph");

  Costs() {
    for (std::int64_t process = 0; process < 3; ++process) {
      // Loading a library once makes the first process slow: the median does not show it.
      const std::int64_t extra = process == 0 ? 5000 * kUs : 0;
      eager.one_off.push_back(
          {.process = process, .init_ns = 9000 * kUs, .first_step_ns = 100 * kUs});
      graph.one_off.push_back({.process = process,
                               .init_ns = 1000 * kUs,
                               .compile_ns = 500 * kUs + extra,
                               .capture_ns = 300 * kUs,
                               .instantiate_ns = 200 * kUs,
                               .upload_ns = 100 * kUs,
                               .first_step_ns = 200 * kUs,
                               .warmup_ns = 77'777 * kUs});
    }
  }
  BreakEven of(const Interval& difference_us, const char* verdict = "FASTER") const {
    RatioRecord ratio{.verdict = verdict};
    ratio.difference_us = difference_us;
    return break_even_of(eager, graph, ratio);
  }
};

TEST(BreakEven, ExtraCostOverWhatAStepSaves) {
  const BreakEven result = Costs().of({.estimate = -10.0, .low = -11.0, .high = -9.0});
  EXPECT_EQ(result.extra_us, 1200.0);
  EXPECT_EQ(result.steps, 120.0);
  EXPECT_EQ(result.text, "120 steps");
  // 1,200 / 7 = 171.4: the step in which it is paid back.
  EXPECT_EQ(Costs().of({.estimate = -7.0, .low = -8.0, .high = -6.0}).text, "172 steps");
  EXPECT_EQ(Costs().of({.estimate = -1200.0, .low = -1300.0, .high = -1100.0}).text, "1 step");
}

TEST(BreakEven, NeverWhereNothingIsSaved) {
  for (const Interval& difference : {Interval{.estimate = 3.0, .low = 2.0, .high = 4.0},
                                     Interval{.estimate = 0.0, .low = -1.0, .high = 1.0},
                                     Interval{.estimate = -3.0, .low = -7.0, .high = 0.0},
                                     Interval{.estimate = -3.0, .low = -7.0, .high = 1.0}}) {
    const BreakEven result = Costs().of(difference);
    EXPECT_EQ(result.text, "never");
    EXPECT_FALSE(result.steps);
    EXPECT_EQ(result.extra_us, 1200.0);
  }
}

// Neither "at once" nor "never" follows from an estimate alone.
TEST(BreakEven, NotKnownWithoutAnInterval) {
  Costs costs;
  for (const double estimate : {-10.0, 10.0}) {
    RatioRecord ratio{.difference_us = Interval{.estimate = estimate}, .verdict = "exploratory"};
    ratio.processes = 1;
    EXPECT_EQ(break_even_of(costs.eager, costs.graph, ratio).text, "not known: one process");
    EXPECT_FALSE(break_even_of(costs.eager, costs.graph, ratio).steps);
    EXPECT_EQ(break_even_of(costs.eager, costs.graph, ratio).extra_us, 1200.0);
    ratio.processes = 4;
    EXPECT_EQ(break_even_of(costs.eager, costs.graph, ratio).text,
              "not known: fewer than 5 processes");
    ratio.processes = 5;
    ratio.difference_us = Interval{.estimate = estimate, .low = estimate, .high = estimate};
    EXPECT_EQ(break_even_of(costs.eager, costs.graph, ratio).text,
              "not known: too few trusted blocks");
  }
}

// What may as well cost as save time pays nothing back in a number of steps that is known.
TEST(BreakEven, NotKnownOfWhatIsUndecided) {
  for (const double estimate : {-10.0, 1.0}) {
    const Interval difference{.estimate = estimate, .low = estimate - 1.0, .high = estimate + 1.0};
    const BreakEven result = Costs().of(difference, "UNDECIDED");
    EXPECT_EQ(result.text, "not known: UNDECIDED");
    EXPECT_FALSE(result.steps);
    EXPECT_EQ(result.extra_us, 1200.0);
  }
}

TEST(BreakEven, NothingToPayBackWhereNothingIsPaidOrSaved) {
  Costs costs;
  std::swap(costs.eager.one_off, costs.graph.one_off);
  EXPECT_EQ(costs.of({.estimate = 0.1, .low = -1.0, .high = 1.2}, "SAME").text,
            "nothing to pay back");
  EXPECT_EQ(costs.of({.estimate = 10.0, .low = 9.0, .high = 11.0}, "SLOWER").text, "never");
}

TEST(BreakEven, AtOnceWithoutExtraCost) {
  Costs costs;
  std::swap(costs.eager.one_off, costs.graph.one_off);
  const BreakEven result = costs.of({.estimate = -10.0, .low = -11.0, .high = -9.0});
  EXPECT_EQ(result.extra_us, -1200.0);
  EXPECT_EQ(result.steps, 0.0);
  EXPECT_EQ(result.text, "at once");
}

// Another library has to be loaded as well: 1,000 us against 9,000.
TEST(BreakEven, BetweenBackendsInitCounts) {
  Costs costs;
  costs.graph.backend = "onednn";
  EXPECT_EQ(costs.of({.estimate = -10.0, .low = -11.0, .high = -9.0}).extra_us, 1200.0 - 8000.0);
}

TEST(BreakEven, NotKnown) {
  Costs costs;
  EXPECT_EQ(break_even_of(costs.eager, costs.graph, {.reason = "batch size differs: 1 and 2"}).text,
            "not known: batch size differs: 1 and 2");
  RatioRecord ratio{.difference_us = Interval{.estimate = -10.0}, .verdict = "void"};
  ratio.verdict_reason = "A/A control: its floor is 7.1 %, above 5 %";
  EXPECT_EQ(break_even_of(costs.eager, costs.graph, ratio).text, "not known: void");
  costs.eager.one_off.clear();
  EXPECT_EQ(costs.of({.estimate = -10.0, .low = -11.0, .high = -9.0}).text,
            "not known: one-off costs were not measured");
}

}  // namespace
}  // namespace stepscope::test
