// Statistics against values worked out by hand, NumPy's documentation and published tables.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "ops/base/philox.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using List = std::vector<double>;

List count_up(std::size_t n) {  // 1, 2, ... n
  List values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

TEST(Median, MiddleOrMeanOfTheMiddleTwo) {
  EXPECT_EQ(median(List{7}), 7);
  EXPECT_EQ(median(List{3, 1, 2}), 2);
  EXPECT_EQ(median(List{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(List{-1, -3}), -2);
}

// Type 7 by hand: (n - 1) p = 0.75 of three steps, 2.25 of nine, 1.4 of seven.
TEST(Quantile, OfTypeSevenByHand) {
  EXPECT_EQ(quantile(List{1, 2, 3, 4}, 0.25), 1.75);
  EXPECT_EQ(quantile(List{1, 2, 3, 4}, 0.75), 3.25);
  EXPECT_EQ(quantile(count_up(10), 0.25), 3.25);
  EXPECT_EQ(quantile(count_up(10), 0.75), 7.75);
  EXPECT_DOUBLE_EQ(quantile(List{10, 20, 30, 40, 50, 60, 70, 80}, 0.2), 24.0);
  EXPECT_EQ(quantile(count_up(9), 0.0), 1);
  EXPECT_EQ(quantile(count_up(9), 1.0), 9);
}

// The list of the documentation of numpy.percentile: [[10, 7, 4], [3, 2, 1]], 50 % is 3.5;
// the other percentiles as numpy.percentile(..., method='linear') defines them.
TEST(Quantile, OfTypeSevenAsNumPyHasIt) {
  const List values{10, 7, 4, 3, 2, 1};
  EXPECT_EQ(quantile(values, 0.5), 3.5);
  EXPECT_EQ(quantile(values, 0.25), 2.25);
  EXPECT_EQ(quantile(values, 0.75), 6.25);
  EXPECT_DOUBLE_EQ(quantile(values, 0.1), 1.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 8.5);
}

TEST(Quantile, OrderOfTheListDoesNotMatter) {
  List values = count_up(101);
  const double q1 = quantile(values, 0.25);
  for (std::uint32_t i = 0; const std::uint32_t place : Philox(3).permutation(101)) {
    values[i++] = place + 1.0;
  }
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  EXPECT_EQ(quantile(values, 0.25), q1);
}

// 2.1, 2.0, 2.4, 2.0, 9.3 ms: type 7 gives quartiles 2.0 and 2.4 where the exclusive method has
// 5.85 for the third, so this tells them apart. 9.3 lies beyond 2.4 + 3 * 0.4 = 3.6.
TEST(Summary, FiveSamplesWithOneSpike) {
  const List values{2.1, 2.0, 2.4, 2.0, 9.3};
  const Summary s = summarize(values);
  EXPECT_EQ(s.count, 5U);
  EXPECT_DOUBLE_EQ(s.mean, 3.56);
  EXPECT_EQ(s.min, 2.0);
  EXPECT_EQ(s.q1, 2.0);
  EXPECT_EQ(s.median, 2.1);
  EXPECT_EQ(s.q3, 2.4);
  EXPECT_EQ(s.max, 9.3);
  EXPECT_DOUBLE_EQ(s.iqr(), 0.4);
  EXPECT_EQ(s.outliers, (OutlierCounts{.mild = 0, .severe = 1}));
}

TEST(Summary, OneValueIsAllOfThem) {
  const Summary s = summarize(List{5});
  for (const double value : {s.mean, s.min, s.q1, s.median, s.q3, s.max}) EXPECT_EQ(value, 5);
  EXPECT_EQ(s.iqr(), 0);
  EXPECT_EQ(s.outliers, OutlierCounts{});
}

// Quartiles 4 and 8: fences at -2 and 14 (mild), -8 and 20 (severe); a value on a fence is inside.
TEST(Summary, TukeysFences) {
  const Summary s{.q1 = 4, .q3 = 8};
  EXPECT_EQ(s.classify(6), Outlier::none);
  EXPECT_EQ(s.classify(14), Outlier::none);
  EXPECT_EQ(s.classify(14.001), Outlier::mild);
  EXPECT_EQ(s.classify(20), Outlier::mild);
  EXPECT_EQ(s.classify(20.001), Outlier::severe);
  EXPECT_EQ(s.classify(-2), Outlier::none);
  EXPECT_EQ(s.classify(-2.001), Outlier::mild);
  EXPECT_EQ(s.classify(-8), Outlier::mild);
  EXPECT_EQ(s.classify(-8.001), Outlier::severe);
}

// 1 .. 12, quartiles 3.75 and 9.25: 17.5 and 25.75 are the fences above. Both outliers stay
// counted.
TEST(Summary, CountsOutliersAndDropsNothing) {
  List values = count_up(10);
  values.push_back(19);
  values.push_back(100);
  const Summary s = summarize(values);
  EXPECT_EQ(s.count, 12U);
  EXPECT_EQ(s.q1, 3.75);
  EXPECT_EQ(s.q3, 9.25);
  EXPECT_EQ(s.outliers, (OutlierCounts{.mild = 1, .severe = 1}));
  EXPECT_EQ(s.max, 100);
  EXPECT_DOUBLE_EQ(s.mean, 174.0 / 12);
}

TEST(Statistics, RefuseWhatIsNoList) {
  EXPECT_EQ(error_of([] { summarize({}); }), "bad input: statistics: the list is empty");
  EXPECT_EQ(error_of([] { median(List{}); }), "bad input: statistics: the list is empty");
  EXPECT_EQ(error_of([] {
              summarize(List{1, std::numeric_limits<double>::quiet_NaN()});
            }),
            "bad input: statistics: value 1 of 2 is nan");
  EXPECT_EQ(error_of([] { median_interval(List{std::numeric_limits<double>::infinity()}); }),
            "bad input: statistics: value 0 of 1 is inf");
  EXPECT_EQ(error_of([] { quantile(List{1}, 1.5); }),
            "bad input: quantile: 1.5 asked for, expected 0 to 1");
  EXPECT_EQ(error_of([] { median_interval(List{1}, 1.0); }),
            "bad input: interval of the median: confidence 1, expected between 0 and 1");
}

struct RankCase {
  std::size_t n, low, high;
  double coverage;  // to the digits given
};

// Tables of the sign test, 95 %.
TEST(MedianInterval, RanksAndCoverageOfTheTables) {
  for (const RankCase& c : {RankCase{6, 1, 6, 0.969},
                            {10, 2, 9, 0.979},
                            {20, 6, 15, 0.959},
                            {30, 10, 21, 0.957},
                            {50, 18, 33, 0.967},
                            {100, 40, 61, 0.965}}) {
    const auto interval = median_interval(count_up(c.n));
    ASSERT_TRUE(interval) << c.n;
    EXPECT_EQ(interval->low_rank, c.low) << c.n;
    EXPECT_EQ(interval->high_rank, c.high) << c.n;
    EXPECT_EQ(interval->low, static_cast<double>(c.low)) << c.n;
    EXPECT_EQ(interval->high, static_cast<double>(c.high)) << c.n;
    EXPECT_NEAR(interval->coverage, c.coverage, 0.0005) << c.n;
  }
}

// min to max of five covers 1 - 2 / 32 = 93.75 %.
TEST(MedianInterval, FiveValuesCannotGiveNinetyFivePercent) {
  EXPECT_FALSE(median_interval(count_up(5)));
  const auto interval = median_interval(count_up(5), 0.93);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, 1);
  EXPECT_EQ(interval->high, 5);
  EXPECT_DOUBLE_EQ(interval->coverage, 0.9375);
  EXPECT_FALSE(median_interval(count_up(1), 0.01));
}

// By exact fractions in Python; 2^-10000 is far below the smallest double.
TEST(MedianInterval, LongLists) {
  const auto interval = median_interval(count_up(10'000));
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low_rank, 4902U);
  EXPECT_EQ(interval->high_rank, 10'001U - 4902U);
  EXPECT_NEAR(interval->coverage, 0.9511670501, 1e-9);
}

// The claim itself, on a skewed distribution (exponential, median ln 2): 4,000 lists of 20, whose
// share of hits has deviation 0.0031. Fixed seed: the count never varies.
TEST(MedianInterval, CoversAsOftenAsItSays) {
  Philox random(11);
  int hits = 0;
  double coverage = 0;
  constexpr int kLists = 4000;
  for (int list = 0; list < kLists; ++list) {
    List values(20);
    for (double& value : values) value = -std::log(1.0 - random.uniform());
    const auto interval = median_interval(values);
    ASSERT_TRUE(interval);
    coverage = interval->coverage;
    hits += interval->low <= std::log(2.0) && std::log(2.0) <= interval->high ? 1 : 0;
  }
  EXPECT_NEAR(hits / static_cast<double>(kLists), coverage, 3 * 0.0031);
}

TEST(RatioOfMedians, NamesItsBase) {
  EXPECT_EQ(ratio_of_medians(List{3, 100, 2}, List{2, 1, 9, 2}), 1.5);
  EXPECT_EQ(error_of([] {
              ratio_of_medians(List{1}, List{0, 0, 1});
            }),
            "bad input: ratio of medians: the median of the base is 0, expected above 0");
}

}  // namespace
}  // namespace stepscope
