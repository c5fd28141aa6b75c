// No ratio, verdict or break-even is made of a simulated backend.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/compare/analysis.h"
#include "bench/compare/baseline.h"
#include "bench/compare/comparable.h"
#include "bench/compare/slower.h"
#include "bench/record/simulated.h"
#include "tests/bench/compare/simulated.h"

namespace stepscope::test {
namespace {

constexpr const char* kWhy = "no time of eigen is one of a GPU";

// arm0 is twice as fast as the base, arm1 twice as slow: measured, no ratio could be clearer.
Record clear_record() { return simulated_record({}, {0.5, 2.0}, 1); }

Record modelled() {
  Record record = clear_record();
  for (ArmRecord& arm : record.arms) arm.simulated = true;
  return record;
}

TEST(ModelTimes, AMeasuredRunOfTheSameSlotsIsJudged) {
  Record record = clear_record();
  analyze(record);
  EXPECT_EQ(record.status, "complete");
  EXPECT_EQ(ratio_of(record, "arm0").verdict, "FASTER");
  EXPECT_EQ(ratio_of(record, "arm1").verdict, "SLOWER");
}

TEST(ModelTimes, NothingIsMadeOfThem) {
  Record record = modelled();
  analyze(record);
  EXPECT_EQ(record.status, kSimulated);
  EXPECT_EQ(record.status_reason, kWhy);
  ASSERT_EQ(record.pairs.size(), 3U);
  for (const PairRecord& pair : record.pairs) {
    EXPECT_FALSE(pair.break_even) << pair.of;
    ASSERT_EQ(pair.ratios.size(), 1U) << pair.of;
    const RatioRecord& ratio = pair.ratios.front();
    EXPECT_EQ(ratio.reason, kWhy);
    EXPECT_EQ(ratio.verdict, "void");
    EXPECT_FALSE(ratio.time_ratio || ratio.ratio_of_medians || ratio.base_us || ratio.of_us ||
                 ratio.difference_us || ratio.p || ratio.delta || ratio.wins);
  }
  EXPECT_TRUE(slower_of(record).empty());
  EXPECT_EQ(untold_of(record).size(), 2U);
}

TEST(ModelTimes, OneArmThatWasMeasuredDoesNotHelpItsPair) {
  for (const bool base : {true, false}) {
    Record record = clear_record();
    ArmRecord& arm = base ? record.arms.front() : record.arms.back();
    arm.simulated = true;
    const ArmRecord& other = base ? record.arms.back() : record.arms.front();
    EXPECT_EQ(why_no_ratio(record, record.arms.front(), record, record.arms.back()), kWhy);
    EXPECT_EQ(why_no_ratio(record, other, record, other), "");
  }
}

// What is measured beside them is judged as ever, and the work of both was equal.
TEST(ModelTimes, PairsOfOtherArmsKeepTheirVerdicts) {
  Record record = clear_record();
  for (ArmRecord& arm : record.arms) arm.simulated = arm.name == "arm1";
  analyze(record);
  EXPECT_EQ(record.status, "complete");
  EXPECT_EQ(ratio_of(record, "arm0").verdict, "FASTER");
  EXPECT_EQ(ratio_of(record, "arm1").reason, kWhy);
}

TEST(ModelTimes, UnequalWorkIsSaidFirst) {
  Record record = modelled();
  record.gates.push_back({.backend = "eigen", .batch = 32, .detail = "w1 differs"});
  analyze(record);
  EXPECT_EQ(record.status, "unequal-work");
}

TEST(ModelTimes, NoChangeSinceABaseline) {
  Record now = clear_record(), then = clear_record();
  then.arms.front().simulated = true;
  const std::vector<BaselineRecord> rows = compare_with_baseline(now, then);
  EXPECT_EQ(rows.front().reason, kWhy);
  EXPECT_FALSE(rows.front().now_us || rows.front().change);
  EXPECT_EQ(rows.front().verdict, "");
  EXPECT_NE(rows.back().reason, kWhy);
}

}  // namespace
}  // namespace stepscope::test
