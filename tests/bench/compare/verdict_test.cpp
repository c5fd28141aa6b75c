// Verdicts from intervals, bands and Holm's correction.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/compare/analysis.h"
#include "tests/bench/compare/simulated.h"

namespace stepscope::test {
namespace {

Interval between(double low, double high) {
  return {.estimate = std::sqrt(low * high), .low = low, .high = high};
}

// The band of 2 % reaches from 0.9804 to 1.02.
TEST(Verdict, ByWhereTheIntervalLies) {
  EXPECT_STREQ(verdict_of(between(0.90, 0.98), 0.02), "FASTER");
  EXPECT_STREQ(verdict_of(between(0.90, 0.981), 0.02), "UNDECIDED");
  EXPECT_STREQ(verdict_of(between(0.981, 1.02), 0.02), "SAME");
  EXPECT_STREQ(verdict_of(between(0.981, 1.021), 0.02), "UNDECIDED");
  EXPECT_STREQ(verdict_of(between(0.9, 1.1), 0.02), "UNDECIDED");
  EXPECT_STREQ(verdict_of(between(1.019, 1.2), 0.02), "UNDECIDED");
  EXPECT_STREQ(verdict_of(between(1.021, 1.2), 0.02), "SLOWER");
}

TEST(Verdict, FloorIsHalfTheWidthOfTheControl) {
  EXPECT_NEAR(floor_of(between(1.0 / 1.03, 1.03)), 0.03, 1e-12);
  EXPECT_NEAR(floor_of(between(1.0, 1.0609)), 0.03, 1e-12);
}

RatioRecord judged(const std::vector<double>& per_process, std::optional<double> delta) {
  RatioRecord ratio{.stratum = "single", .per_process = per_process, .delta = delta};
  ratio.time_ratio = between(*std::min_element(per_process.begin(), per_process.end()),
                             *std::max_element(per_process.begin(), per_process.end()));
  return ratio;
}

// The same ratio alone and among others that hold nothing: p of 0.03 does for one verdict, and 0.03
// times 40 does not.
TEST(Verdict, HolmRunsOverAllVerdictsOfARun) {
  const std::vector<double> slow{1.02, 1.05, 1.09, 1.05, 1.04};
  const std::vector<double> equal{0.99, 1.01, 1.0, 1.02, 0.985};
  RatioRecord alone = judged(slow, 0.01);
  RatioRecord* only[] = {&alone};
  judge(only);
  EXPECT_EQ(alone.verdict, "SLOWER");
  EXPECT_EQ(alone.p, alone.p_holm);
  EXPECT_GT(*alone.p, 0.01);
  EXPECT_LT(*alone.p, 0.05);

  std::vector<RatioRecord> many(40, judged(equal, 0.01));
  many.front() = judged(slow, 0.01);
  std::vector<RatioRecord*> family;
  for (RatioRecord& ratio : many) family.push_back(&ratio);
  judge(family);
  EXPECT_EQ(many.front().p, alone.p);
  EXPECT_NEAR(*many.front().p_holm, std::min(1.0, 40.0 * *alone.p), 1e-12);
  EXPECT_EQ(many.front().verdict, "UNDECIDED");
  EXPECT_NE(many.front().verdict_reason.find("by Holm's correction over 40 verdicts"),
            std::string::npos)
      << many.front().verdict_reason;
}

TEST(Verdict, WithoutAControlNothingIsDecided) {
  RatioRecord ratio = judged({2.0, 2.01, 2.02, 2.0, 2.01}, std::nullopt);
  RatioRecord* only[] = {&ratio};
  judge(only);
  EXPECT_EQ(ratio.verdict, "UNDECIDED");
  EXPECT_EQ(ratio.verdict_reason, "no A/A control in stratum single: the noise floor is not known");
}

TEST(Verdict, ReasonsNameIntervalAndBand) {
  RatioRecord same = judged({0.99, 1.01, 1.0, 1.0, 1.0}, 0.02);
  RatioRecord undecided = judged({0.95, 1.01, 1.0, 1.0, 1.0}, 0.02);
  RatioRecord faster = judged({0.5, 0.51, 0.52, 0.5, 0.51}, 0.02);
  RatioRecord* all[] = {&same, &undecided, &faster};
  judge(all);
  EXPECT_EQ(same.verdict_reason, "0.990 to 1.010 lies inside the band of SAME, 0.980 to 1.020");
  EXPECT_EQ(undecided.verdict_reason,
            "0.950 to 1.010 lies neither inside nor outside the band of SAME, 0.980 to 1.020");
  EXPECT_EQ(faster.verdict_reason, "0.500 to 0.520 lies outside the band of SAME, 0.980 to 1.020");
}

// Through the whole analysis: the control's floor of this noisy machine widens the band.
TEST(Verdict, BandComesFromTheControlOfTheSameBackendBatchAndStratum) {
  Record record = simulated_record({.processes = 10, .noise = {.process = 0.02}}, {1.3}, 2);
  analyze(record);
  const RatioRecord& control = ratio_of(record, "base/again");
  const RatioRecord& ratio = ratio_of(record, "arm0");
  EXPECT_GT(*control.delta, kLeastDelta);
  EXPECT_NEAR(*control.delta, floor_of(*control.time_ratio), 1e-12);
  EXPECT_EQ(ratio.delta, control.delta);
  EXPECT_EQ(ratio.verdict, "SLOWER");
  EXPECT_EQ(record.status, "complete");

  record.arms[1].batch = record.arms[0].batch = 64;  // now it is the control of another batch
  record.pairs[1].base = "other";
  record.arms.push_back(arm("other"));
  analyze(record);
  EXPECT_EQ(ratio_of(record, "arm0").verdict, "UNDECIDED");
}

TEST(Verdict, UndecidedIsAProperResult) {
  Record record = simulated_record({.noise = {.process = 0.02}}, {1.03}, 11);
  analyze(record);
  EXPECT_EQ(ratio_of(record, "arm0").verdict, "UNDECIDED");
  EXPECT_TRUE(ratio_of(record, "arm0").time_ratio->low);
  EXPECT_EQ(record.status, "complete");
}

TEST(Verdict, FewerThanFiveProcessesAreExploratory) {
  for (const std::int64_t processes : {1, 4}) {
    Record record = simulated_record({.processes = processes}, {2.0}, 1);
    analyze(record);
    EXPECT_EQ(record.status, "exploratory");
    EXPECT_EQ(record.status_reason, "fewer than 5 processes: ratios and their spread, no verdict");
    const RatioRecord& ratio = ratio_of(record, "arm0");
    EXPECT_EQ(ratio.verdict, "exploratory");
    EXPECT_FALSE(ratio.time_ratio->low);
    EXPECT_EQ(ratio.verdict_reason,
              processes == 1 ? "1 process; a verdict needs 5" : "4 processes; a verdict needs 5");
  }
}

}  // namespace
}  // namespace stepscope::test
