// Summaries of raw lists, on values that were worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/measure/sampler.h"

namespace stepscope {
namespace {

Samples list_of(std::vector<std::int64_t> elapsed_ns, std::int64_t steps_per_sample = 1) {
  Samples list;
  list.steps_per_sample = steps_per_sample;
  list.start_ns.resize(elapsed_ns.size());
  list.elapsed_ns = std::move(elapsed_ns);
  return list;
}

TimeSummary summary_of(const std::vector<Samples>& lists) { return summarize(lists); }

// 2.1, 2.0, 2.4, 2.0 and 9.3 ms: the last is severe, and stays.
TEST(Summary, R_STA_8_FiveSamplesKeepTheirOutlier) {
  const TimeSummary s =
      summary_of({list_of({2'100'000, 2'000'000, 2'400'000, 2'000'000, 9'300'000})});
  EXPECT_EQ(s.count, 5);
  EXPECT_EQ(s.median_ns, 2'100'000.0);
  EXPECT_EQ(s.min_ns, 2'000'000.0);
  EXPECT_EQ(s.max_ns, 9'300'000.0);
  EXPECT_EQ(s.mean_ns, 3'560'000.0);
  EXPECT_EQ(s.q1_ns, 2'000'000.0);
  EXPECT_EQ(s.q3_ns, 2'400'000.0);
  EXPECT_EQ(s.iqr_ns, 400'000.0);
  EXPECT_EQ(s.mild_outliers, 0);
  EXPECT_EQ(s.severe_outliers, 1);
  EXPECT_FALSE(s.median_low_ns);  // five samples cover 93.75 % at most
  EXPECT_FALSE(s.median_high_ns);
  EXPECT_FALSE(s.median_coverage);
}

TEST(Summary, AnIntervalOfTheMedianFromSixOn) {
  const TimeSummary s = summary_of({list_of({6, 1, 5, 2, 4, 3})});
  EXPECT_EQ(s.median_low_ns, 1.0);
  EXPECT_EQ(s.median_high_ns, 6.0);
  ASSERT_TRUE(s.median_coverage);
  EXPECT_NEAR(*s.median_coverage, 0.96875, 1e-12);
}

TEST(Summary, BlocksAreDividedByTheirSteps) {
  const TimeSummary s = summary_of({list_of({100, 300}, 10), list_of({5}, 1)});
  EXPECT_EQ(s.count, 3);
  EXPECT_EQ(s.min_ns, 5.0);
  EXPECT_EQ(s.median_ns, 10.0);
  EXPECT_EQ(s.max_ns, 30.0);
}

TEST(Summary, NothingMeasuredIsACountOfZero) {
  EXPECT_EQ(summary_of({}), TimeSummary{});
  EXPECT_EQ(summary_of({list_of({})}).count, 0);
}

}  // namespace
}  // namespace stepscope
