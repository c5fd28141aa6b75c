// Tests of trend against worked examples.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/trend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "ops/base/philox.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using List = std::vector<double>;

// 5, 6, 11, 8, 10: eight pairs rise and two fall. US EPA, "Data Quality Assessment: Statistical
// Methods for Practitioners", QA/G-9S, 4.3.4.1. The variance is 5 x 4 x 15 / 18.
TEST(MannKendall, WorkedExample) {
  const MannKendall test = mann_kendall(List{5, 6, 11, 8, 10});
  EXPECT_EQ(test.s, 6);
  EXPECT_DOUBLE_EQ(test.variance, 300.0 / 18.0);
  EXPECT_NEAR(test.z, 1.2247, 1e-4);  // 5 / 4.0825
  EXPECT_NEAR(test.p, 0.2207, 1e-4);
}

// 1, 2, 2, 3: five pairs rise, one is tied: (4 x 3 x 13 - 2 x 1 x 9) / 18.
TEST(MannKendall, TiesLowerTheVariance) {
  const MannKendall test = mann_kendall(List{1, 2, 2, 3});
  EXPECT_EQ(test.s, 5);
  EXPECT_DOUBLE_EQ(test.variance, 138.0 / 18.0);
  EXPECT_NEAR(test.z, 4.0 / std::sqrt(138.0 / 18.0), 1e-12);
}

TEST(MannKendall, FallingIsNegativeAndConstantIsNothing) {
  List values(20);
  std::iota(values.rbegin(), values.rend(), 0.0);
  EXPECT_EQ(mann_kendall(values).s, -190);
  EXPECT_LT(mann_kendall(values).z, 0.0);
  EXPECT_LT(mann_kendall(values).p, 1e-6);
  EXPECT_EQ(mann_kendall(List(20, 3.0)).p, 1.0);
  EXPECT_EQ(mann_kendall({}).p, 1.0);
}

// Without a trend p is below 0.05 in about one list of twenty. Fixed seed; deviation 0.7 %.
TEST(MannKendall, IsWrongAsOftenAsItSays) {
  Philox random(5);
  int wrong = 0;
  for (int list = 0; list < 1000; ++list) {
    List values(30);
    for (double& value : values) value = random.normal();
    wrong += mann_kendall(values).p < 0.05 ? 1 : 0;
  }
  EXPECT_NEAR(wrong / 1000.0, 0.05, 0.02);
}

// Six slopes of 1 and four larger ones, from 25 to 97: the outlier does not move the median.
TEST(TheilSen, MedianOfAllSlopes) {
  EXPECT_EQ(theil_sen(List{0, 1, 2, 3, 4}, List{0, 1, 2, 3, 100}), 1.0);
  // Slopes 2, 3 and 4; in other times half of it.
  EXPECT_EQ(theil_sen(List{0, 1, 2}, List{0, 2, 6}), 3.0);
  EXPECT_EQ(theil_sen(List{0, 2, 4}, List{0, 2, 6}), 1.5);
  // An even number of slopes: 1, 2, 3 | 3.5, 4, 6.
  EXPECT_EQ(theil_sen(List{0, 1, 2, 3}, List{0, 3, 4, 10}), (3.0 + 10.0 / 3.0) / 2.0);
}

TEST(TheilSen, WithoutTwoTimes) {
  EXPECT_EQ(theil_sen({}, {}), 0.0);
  EXPECT_EQ(theil_sen(List{1, 1}, List{1, 9}), 0.0);
  EXPECT_EQ(test::error_of([] {
              theil_sen(List{1}, List{1, 2});
            }),
            "bad input: Theil-Sen: 1 times and 2 values, expected as many");
}

// 1, -1, 1, -1: three products of -1 over four squares.
TEST(Lag1, ByHand) {
  EXPECT_EQ(lag1_autocorrelation(List{1, -1, 1, -1}), -0.75);
  // 1, 2, 3 around 2: (-1 x 0 + 0 x 1) / 2.
  EXPECT_EQ(lag1_autocorrelation(List{1, 2, 3}), 0.0);
  // Around 2: -1 -1 1 1 gives (1 - 1 + 1) / 4.
  EXPECT_EQ(lag1_autocorrelation(List{1, 1, 3, 3}), 0.25);
  EXPECT_EQ(lag1_autocorrelation(List{4, 4, 4, 4}), 0.0);
  EXPECT_EQ(lag1_autocorrelation(List{4, 5}), 0.0);
}

}  // namespace
}  // namespace stepscope
