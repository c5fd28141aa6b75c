// Student's t against published tables and closed forms; tests against worked examples.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/inference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using List = std::vector<double>;

struct TableRow {
  double df, p, t;  // t to three digits
};

// NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
TEST(StudentsT, QuantilesOfTheTable) {
  for (const TableRow& row : {TableRow{1, 0.975, 12.706},
                              {2, 0.975, 4.303},
                              {4, 0.975, 2.776},
                              {9, 0.975, 2.262},
                              {19, 0.975, 2.093},
                              {29, 0.975, 2.045},
                              {100, 0.975, 1.984},
                              {4, 0.95, 2.132},
                              {4, 0.995, 4.604},
                              {9, 0.999, 4.297},
                              {1, 0.999, 318.309}}) {
    EXPECT_NEAR(t_quantile(row.p, row.df), row.t, 0.0005) << row.df << " " << row.p;
    EXPECT_NEAR(t_quantile(1.0 - row.p, row.df), -row.t, 0.0005) << row.df << " " << row.p;
  }
}

// One degree of freedom is Cauchy's distribution; two have a closed form too.
TEST(StudentsT, ClosedForms) {
  for (const double t : {-30.0, -2.0, -0.1, 0.0, 0.5, 1.0, 7.0}) {
    EXPECT_NEAR(t_cdf(t, 1.0), 0.5 + std::atan(t) / std::numbers::pi, 1e-14) << t;
    EXPECT_NEAR(t_cdf(t, 2.0), 0.5 + t / (2.0 * std::sqrt(2.0 + t * t)), 1e-14) << t;
  }
}

TEST(StudentsT, QuantileIsTheInverse) {
  for (const double df : {1.0, 2.5, 4.0, 9.0, 33.3, 1000.0}) {
    for (const double p : {0.001, 0.025, 0.3, 0.5, 0.9, 0.9999}) {
      EXPECT_NEAR(t_cdf(t_quantile(p, df), df), p, 1e-12) << df << " " << p;
    }
  }
  EXPECT_NEAR(t_quantile(0.975, 1e9), 1.959964, 1e-6);
}

TEST(StudentsT, RefusesWhatIsNoProbability) {
  EXPECT_EQ(error_of([] { t_quantile(1.0, 4.0); }),
            "bad input: t quantile: p is 1, expected between 0 and 1");
  EXPECT_EQ(error_of([] { t_cdf(1.0, 0.0); }),
            "bad input: t distribution: 0 degrees of freedom, expected above 0");
  EXPECT_EQ(error_of([] { t_interval(List{1.0}); }),
            "bad input: t interval: 1 values, expected 2 or more");
}

TEST(Normal, TwoSidedTails) {
  EXPECT_NEAR(normal_two_sided(1.959964), 0.05, 1e-7);
  EXPECT_NEAR(normal_two_sided(-2.575829), 0.01, 1e-7);
  EXPECT_EQ(normal_two_sided(0.0), 1.0);
}

// 1, 2, 3, 4, 5: mean 3, deviation 1.5811, so 3 +- 2.7764 x 0.7071.
TEST(TInterval, ByHand) {
  const MeanInterval interval = t_interval(List{1, 2, 3, 4, 5});
  EXPECT_EQ(interval.mean, 3.0);
  EXPECT_NEAR(interval.high, 4.9632, 1e-4);
  EXPECT_NEAR(interval.low, 1.0368, 1e-4);
  EXPECT_EQ(interval.df, 4.0);
  // t = 3 / 0.70711 = 4.2426 at four degrees: 0.01324.
  EXPECT_NEAR(interval.p_outside(), 0.01324, 1e-5);
  // Against [-1.0368, 1.0368], whose edge the interval touches, 5 %.
  EXPECT_NEAR(interval.p_outside(1.0368), 0.05, 1e-5);
  EXPECT_EQ(interval.p_outside(3.5), 1.0);
}

TEST(TInterval, WithoutSpread) {
  const MeanInterval interval = t_interval(List{2, 2, 2});
  EXPECT_EQ(interval.low, 2.0);
  EXPECT_EQ(interval.high, 2.0);
  EXPECT_EQ(interval.p_outside(1.0), 0.0);
  EXPECT_EQ(interval.p_outside(2.0), 1.0);
}

// The first example of Wikipedia's "Welch's t-test": t = -2.46, 25.0 degrees of freedom, p = 0.021.
TEST(Welch, PublishedExample) {
  const List a{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
               21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
  const List b{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
               24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4};
  const MeanInterval difference = welch_interval(a, b);
  EXPECT_NEAR(difference.mean / difference.standard_error, -2.46, 0.005);
  EXPECT_NEAR(difference.df, 25.0, 0.05);
  EXPECT_NEAR(difference.p_outside(), 0.021, 0.0005);
  EXPECT_LT(difference.high, 0.0);
}

// 0.005 x 4, 0.01 x 3, 0.03 x 2; then 0.04 x 1 is raised to what stands before it.
TEST(Holm, ByHand) {
  const List corrected = holm(List{0.01, 0.04, 0.03, 0.005});
  ASSERT_EQ(corrected.size(), 4U);
  EXPECT_DOUBLE_EQ(corrected[0], 0.03);
  EXPECT_DOUBLE_EQ(corrected[1], 0.06);
  EXPECT_DOUBLE_EQ(corrected[2], 0.06);
  EXPECT_DOUBLE_EQ(corrected[3], 0.02);
  EXPECT_EQ(holm(List{0.7, 0.8}), (List{1.0, 1.0}));
  EXPECT_EQ(holm(List{0.04}), (List{0.04}));
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace stepscope
