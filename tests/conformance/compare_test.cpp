// The comparisons can fail: each is shown what it must refuse, and what it must let pass.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/compare.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/tensor_bytes.h"

namespace stepscope::conformance {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kUlpOfOne = 0x1p-23;

const TensorType kTwo{{2}, DType::f32};

bool add_agrees(double got) {
  const OpSite site = site_of(OpKind::Add, {}, {kTwo, kTwo}, DType::f32);
  double worst = 0.0;
  return within_bound(entry_of(OpKind::Add), site, {{1, 1}, {2, 0}}, {{3, got}}, {{3, 1}}, &worst);
}

TEST(WithinBound, HoldsTheBound) {
  EXPECT_TRUE(add_agrees(1.0));
  EXPECT_TRUE(add_agrees(1.0 + kUlpOfOne / 2.0));  // one rounding
  EXPECT_FALSE(add_agrees(1.0 + kUlpOfOne));
  EXPECT_FALSE(add_agrees(kNan));
  EXPECT_FALSE(add_agrees(kInf));
}

TEST(WithinBound, TakesWholeNumbersExactly) {
  const OpSite site = site_of(OpKind::Argmax, {}, {{{1, 3}, DType::f32}}, DType::f32);
  double worst = 0.0;
  const auto agrees = [&](double got) {
    return bool(within_bound(entry_of(OpKind::Argmax), site, {{1, 3, 2}}, {{got}}, {{1}}, &worst));
  };
  EXPECT_TRUE(agrees(1.0));
  EXPECT_FALSE(agrees(2.0));
}

TEST(WithinBound, CountsElementsAndOutputs) {
  const OpSite site = site_of(OpKind::Add, {}, {kTwo, kTwo}, DType::f32);
  const OpEntry& add = entry_of(OpKind::Add);
  double worst = 0.0;
  EXPECT_FALSE(within_bound(add, site, {{1, 1}, {2, 0}}, {{3}}, {{3, 1}}, &worst));
  EXPECT_FALSE(within_bound(add, site, {{1, 1}, {2, 0}}, {}, {{3, 1}}, &worst));
}

TEST(WithinBound, IsOneNumberForEachElement) {
  const OpSite site = site_of(OpKind::Add, {}, {kTwo, kTwo}, DType::f32);
  OpEntry add = entry_of(OpKind::Add);
  double worst = 0.0;
  add.table.bound = [](const Oracle&, std::size_t) { return std::vector<double>{1.0}; };
  EXPECT_EQ(beyond_bound(add, site, {{1, 1}, {2, 0}}, {{3, 1}}, {{3, 1}}, &worst),
            "output 0: the bound of Add has 1 elements, expected 2");
}

TEST(SameBits, SeesSignsAndUlps) {
  const OpSite site = site_of(OpKind::Relu, {}, {kTwo}, DType::f32);
  const auto same = [&](double a, double b) {
    return bool(same_bits(site, {test::to_bytes(std::vector{1.0, a}, DType::f32)},
                          {test::to_bytes(std::vector{1.0, b}, DType::f32)}));
  };
  EXPECT_TRUE(same(2.5, 2.5));
  EXPECT_TRUE(same(kNan, -kNan));
  EXPECT_FALSE(same(0.0, -0.0));
  EXPECT_FALSE(same(1.0, 1.0 + kUlpOfOne));
  EXPECT_FALSE(same(kNan, 1.0));
  EXPECT_FALSE(same(kInf, -kInf));
}

TEST(AsWritten, RoundsOnlyWhereTheOpMay) {
  const auto agrees = [](Agreement agreement, double got, double want) {
    return bool(as_written(agreement, {{got}}, {{want}}));
  };
  const double rounded = 1.0 + kUlpOfOne;
  EXPECT_TRUE(agrees(Agreement::bounded, rounded, 1.0));
  EXPECT_FALSE(agrees(Agreement::equal_bits, rounded, 1.0));
  EXPECT_FALSE(agrees(Agreement::bounded, 1.0 + 0x1p-18, 1.0));
  EXPECT_TRUE(agrees(Agreement::bounded, -0.0, 0.0));
  EXPECT_FALSE(agrees(Agreement::equal_bits, -0.0, 0.0));
  EXPECT_FALSE(agrees(Agreement::bounded, kUlpOfOne, 0.0));
  EXPECT_FALSE(agrees(Agreement::bounded, kInf, -kInf));
  EXPECT_FALSE(agrees(Agreement::bounded, 1e30, kInf));
  EXPECT_FALSE(agrees(Agreement::bounded, kInf, 1e30));
  EXPECT_FALSE(agrees(Agreement::bounded, kNan, 1.0));
  EXPECT_TRUE(agrees(Agreement::equal_bits, kNan, kNan));
}

}  // namespace
}  // namespace stepscope::conformance
