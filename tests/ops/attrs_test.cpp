// Attributes as words of a key and as text.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/attrs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "ops/ir/op_def.h"
#include "ops/ir/parse_values.h"

namespace stepscope {
namespace {

std::vector<std::uint64_t> packed(const Attrs& attrs) {
  std::array<std::uint64_t, kMaxAttrWords> words{};
  return {words.data(), pack(attrs, words.data())};
}

ChainAttrs chain(const std::vector<ChainStep>& steps) {
  ChainAttrs attrs{.count = static_cast<std::int64_t>(steps.size())};
  std::copy(steps.begin(), steps.end(), attrs.steps.begin());
  return attrs;
}

// All of these differ from each other.
std::vector<Attrs> different() {
  const TensorType matrix{{2, 3}, DType::f32};
  return {Attrs{},
          MatMulAttrs{},
          MatMulAttrs{true, false},
          MatMulAttrs{false, true},
          ScaleAttrs{1.0},
          ScaleAttrs{0.0},
          ScaleAttrs{-0.0},
          FillAttrs{matrix, 1.0},
          FillAttrs{matrix, 2.0},
          FillAttrs{{{3, 2}, DType::f32}, 1.0},
          FillAttrs{{{2, 3}, DType::f64}, 1.0},
          FillAttrs{{{6}, DType::f32}, 1.0},
          FillAttrs{{{1, 2, 3, 4, 5, 6}, DType::f32}, 1.0},
          ReduceAttrs{0},
          ReduceAttrs{1},
          BroadcastAttrs{0, 1},
          BroadcastAttrs{1, 0},
          BroadcastAttrs{1, 1},
          SgdAttrs{false},
          SgdAttrs{true},
          MomentumAttrs{0.9, false},
          MomentumAttrs{0.9, true},
          MomentumAttrs{0.8, false},
          AdamAttrs{},
          AdamAttrs{.beta1 = 0.8},
          AdamAttrs{.beta2 = 0.9},
          AdamAttrs{.epsilon = 1e-7},
          AdamAttrs{.advance_step = true},
          MatMulAttrs{.activation = Activation::relu},
          MatMulAttrs{.activation = Activation::tanh},
          SgdAttrs{.tensors = 2},
          SgdAttrs{.scaled_gradient = true},
          MomentumAttrs{.tensors = 2},
          AdamAttrs{.tensors = 2},
          ProductUpdateAttrs{},
          ProductUpdateAttrs{.bias_grad = true},
          Conv2dAttrs{},
          Conv2dAttrs{.stride_h = 2},
          Conv2dAttrs{.stride_w = 2},
          Conv2dAttrs{.pad_h = 1},
          Conv2dAttrs{.pad_w = 1},
          Conv2dAttrs{.activation = Activation::relu},
          Conv2dAttrs{.layout = LayoutId{16}},
          Conv2dGradAttrs{},
          Conv2dGradAttrs{.height = 2},
          Conv2dGradAttrs{.width = 2},
          Conv2dGradAttrs{.layout = LayoutId{16}},
          Conv2dUpdateAttrs{},
          Conv2dUpdateAttrs{.bias_grad = true},
          Pool2dAttrs{},
          Pool2dAttrs{.kernel_h = 3},
          Pool2dAttrs{.kernel_w = 3},
          Pool2dGradAttrs{},
          Pool2dGradAttrs{.height = 2},
          ScatterAddAttrs{1},
          ScatterAddAttrs{2},
          CastAttrs{DType::f64},
          CastAttrs{DType::i32},
          ReorderAttrs{},
          ReorderAttrs{LayoutId{16}},
          FillAttrs{{{2, 3}, DType::f32, LayoutId{16}}, 1.0},
          chain({}),
          chain({{OpKind::Relu}}),
          chain({{OpKind::Tanh}}),
          chain({{OpKind::Relu}, {OpKind::Relu}}),
          chain({{OpKind::Scale, ChainOperands::current, 2.0}}),
          chain({{OpKind::Scale, ChainOperands::current, 3.0}}),
          chain({{OpKind::Sub, ChainOperands::current_first}}),
          chain({{OpKind::Sub, ChainOperands::current_second}}),
          chain({{OpKind::Sub, ChainOperands::both}}),
          chain(std::vector<ChainStep>(kMaxChainSteps, {OpKind::Relu}))};
}

TEST(Attrs, DifferentOnesGiveDifferentWords) {
  std::set<std::vector<std::uint64_t>> seen;
  for (const Attrs& attrs : different()) {
    EXPECT_TRUE(seen.insert(packed(attrs)).second) << to_string(attrs);
    EXPECT_EQ(packed(attrs), packed(Attrs(attrs)));
    EXPECT_LE(packed(attrs).size(), kMaxAttrWords);
  }
}

TEST(Attrs, Text) {
  EXPECT_EQ(to_string(Attrs{}), "");
  EXPECT_EQ(to_string(MatMulAttrs{true, false}), "transpose_a = true, transpose_b = false");
  EXPECT_EQ(to_string(ScaleAttrs{-0.5}), "factor = -0.5");
  EXPECT_EQ(to_string(FillAttrs{{{2, 3}, DType::f32}, 1.0}), "type = f32{2, 3}, value = 1");
  EXPECT_EQ(to_string(ReduceAttrs{1}), "axis = 1");
  EXPECT_EQ(to_string(BroadcastAttrs{1, 7}), "axis = 1, size = 7");
  EXPECT_EQ(to_string(SgdAttrs{true}), "advance_step = true");
  EXPECT_EQ(to_string(MomentumAttrs{0.9, false}), "mu = 0.9, advance_step = false");
  EXPECT_EQ(to_string(AdamAttrs{}),
            "beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08, advance_step = false");
  EXPECT_EQ(to_string(ScatterAddAttrs{7}), "rows = 7");
  EXPECT_EQ(to_string(CastAttrs{DType::u8}), "to = u8");
}

TEST(Attrs, OptionalSettingsAreWrittenWhereTheyAreSet) {
  EXPECT_EQ(to_string(MatMulAttrs{.activation = Activation::relu}),
            "transpose_a = false, transpose_b = false, activation = relu");
  EXPECT_EQ(to_string(SgdAttrs{true, 3, true}),
            "advance_step = true, tensors = 3, scaled_gradient = true");
  EXPECT_EQ(to_string(ReorderAttrs{}), "");
  EXPECT_EQ(to_string(ReorderAttrs{LayoutId{16}}), "layout = 16");
  EXPECT_EQ(to_string(Conv2dAttrs{.stride_h = 2, .pad_w = 1, .activation = Activation::tanh}),
            "stride_h = 2, stride_w = 1, pad_h = 0, pad_w = 1, activation = tanh");
  EXPECT_EQ(to_string(ProductUpdateAttrs{.bias_grad = true}),
            "transpose_a = false, transpose_b = false, bias_grad = true");
}

TEST(Attrs, AChainIsWrittenStepByStep) {
  EXPECT_EQ(to_string(chain({{OpKind::Scale, ChainOperands::current, 0.5},
                             {OpKind::Relu},
                             {OpKind::Sub, ChainOperands::current_second}})),
            "count = 3, step = Scale 0.5, step = Relu, step = Sub current_second");
}

// What is printed is read back, whichever struct it is.
TEST(Attrs, AreReadAsTheyAreWritten) {
  for (const Attrs& attrs : different()) {
    const std::string text = to_string(attrs);
    SCOPED_TRACE(text);
    Attrs read;
    for (std::size_t i = 0; i < op_count(); ++i) {
      const Attrs& defaults = op_def(static_cast<OpKind>(i)).attrs;
      if (defaults.index() == attrs.index()) read = defaults;
    }
    ASSERT_EQ(read.index(), attrs.index());
    if (!text.empty()) {
      const std::string braced = "{" + text + "}";
      Tokens tokens(braced, 0, "text");
      read_attrs(read, parse_settings(tokens), "Op", std::nullopt, "text");
    }
    EXPECT_EQ(packed(read), packed(attrs)) << to_string(read);
  }
}

}  // namespace
}  // namespace stepscope
