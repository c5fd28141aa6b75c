// Layouts: where a value may be anything but row-major, and who says so.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/ir/build.h"
#include "ops/ir/op_def.h"
#include "ops/ir/verify.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

class VerifyLayout : public testing::Test {
 protected:
  std::string error() const {
    return test::error_of([&] { verify(graph_, "test"); });
  }
  ValueId reorder(ValueId id, std::uint16_t layout) {
    return graph_.apply1(OpKind::Reorder, {id}, ReorderAttrs{LayoutId{layout}});
  }

  Graph graph_;
  ValueId x_ = graph_.declare(Role::input, {{2, 3, 4, 4}, DType::f32}, "x");
};

TEST_F(VerifyLayout, PointwiseOpsWorkOnAny) {
  const ValueId y = build::relu(graph_, reorder(x_, 16));
  EXPECT_EQ(to_string(graph_.type(y)), "f32{2, 3, 4, 4}@16");
  graph_.keep(reorder(y, 0), "y");
  EXPECT_EQ(error(), "no error");
}

TEST_F(VerifyLayout, OtherOpsTakeRowMajorOnly) {
  const ValueId blocked = reorder(x_, 16);
  EXPECT_EQ(test::error_of([&] { build::reduce_sum(graph_, blocked, 0); }),
            "bad graph: ReduceSum: input 0 must be row-major, %0 is f32{2, 3, 4, 4}@16");
  const ValueId bias = reorder(graph_.declare(Role::parameter, {{3}, DType::f32}, "b"), 16);
  EXPECT_EQ(test::error_of([&] { build::add_bias(graph_, x_, bias); }),
            "bad graph: AddBias: input 1 must be row-major, %1 is f32{3}@16");
}

TEST_F(VerifyLayout, ViewsAreOfRowMajorValues) {
  const ValueId blocked = reorder(x_, 16);
  EXPECT_EQ(test::error_of([&] {
              graph_.reshape(blocked, {2, 48});
            }),
            "bad graph: Reshape: takes a row-major value, %0 is f32{2, 3, 4, 4}@16");
}

TEST_F(VerifyLayout, WhatLeavesAStepIsRowMajor) {
  graph_.keep(reorder(x_, 16), "blocked");
  EXPECT_EQ(error(), "bad graph: test: blocked is kept, but not row-major: f32{2, 3, 4, 4}@16");
}

TEST_F(VerifyLayout, WhatEntersAStepIsRowMajor) {
  graph_.declare(Role::parameter, {{2, 3}, DType::f32, LayoutId{16}}, "w");
  EXPECT_EQ(error(), "bad graph: test: w enters the step as f32{2, 3}@16, not row-major");
}

}  // namespace
}  // namespace stepscope
