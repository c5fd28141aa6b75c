// Shape and work rules of the fused ops: what they take, what they give, what they overwrite.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/ir/op_def.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using Types = std::vector<TensorType>;

TensorType f32(std::initializer_list<std::int64_t> dims) { return {Shape(dims), DType::f32}; }
TensorType u8(std::initializer_list<std::int64_t> dims) { return {Shape(dims), DType::u8}; }
TensorType i32(std::initializer_list<std::int64_t> dims) { return {Shape(dims), DType::i32}; }

// Types of the outputs; =i behind one that is the new content of input i.
std::string outcome(OpKind kind, const Types& in, const Attrs& attrs) {
  std::string types;
  const std::string error = test::error_of([&] {
    TypeList out;
    op_def(kind).infer(in, attrs, out);
    for (std::size_t k = 0; k < out.size(); ++k) {
      const int target = overwritten_input(kind, attrs, in.size(), k);
      types += fmt::format("{}{}{}", k == 0 ? "" : ", ", to_string(out[k]),
                           target >= 0 ? fmt::format("={}", target) : "");
    }
  });
  return error == "no error" ? types : error;
}

TEST(FusedRules, Linear) {
  const Types in = {f32({4, 3}), f32({3, 5}), f32({5})};
  EXPECT_EQ(outcome(OpKind::Linear, in, MatMulAttrs{.activation = Activation::relu}), "f32{4, 5}");
  EXPECT_EQ(outcome(OpKind::Linear, {in[0], in[1], f32({4})}, MatMulAttrs{}),
            "bad graph: Linear: the bias must be f32{5}, got f32{4}");
  EXPECT_EQ(outcome(OpKind::Linear, {in[0], in[1]}, MatMulAttrs{}),
            "bad graph: Linear: takes 3 inputs, got 2");
  EXPECT_EQ(outcome(OpKind::MatMul, {in[0], in[1]}, MatMulAttrs{.activation = Activation::relu}),
            "bad graph: MatMul: takes no activation, got relu");
}

TEST(FusedRules, Conv2dBias) {
  const Types in = {f32({2, 3, 8, 8}), f32({5, 3, 3, 3}), f32({5})};
  EXPECT_EQ(outcome(OpKind::Conv2dBias, in, Conv2dAttrs{.activation = Activation::relu}),
            "f32{2, 5, 6, 6}");
  EXPECT_EQ(outcome(OpKind::Conv2dBias, {in[0], in[1], f32({3})}, Conv2dAttrs{}),
            "bad graph: Conv2dBias: the bias must be f32{5}, got f32{3}");
}

TEST(FusedRules, MaskedGradients) {
  EXPECT_EQ(outcome(OpKind::MatMulReluGrad, {f32({4, 3}), f32({5, 3}), f32({4, 5})},
                    MatMulAttrs{false, true}),
            "f32{4, 5}");
  EXPECT_EQ(outcome(OpKind::MatMulReluGrad, {f32({4, 3}), f32({5, 3}), f32({5, 4})},
                    MatMulAttrs{false, true}),
            "bad graph: MatMulReluGrad: operand types differ, f32{4, 5} and f32{5, 4}");
  const Types conv = {f32({2, 5, 6, 6}), f32({5, 3, 3, 3}), f32({2, 3, 8, 8})};
  const Conv2dGradAttrs attrs{.height = 8, .width = 8};
  EXPECT_EQ(outcome(OpKind::Conv2dInputReluGrad, conv, attrs), "f32{2, 3, 8, 8}");
  EXPECT_EQ(outcome(OpKind::Conv2dInputReluGrad, {conv[0], conv[1], f32({2, 3, 8, 9})}, attrs),
            "bad graph: Conv2dInputReluGrad: operand types differ, f32{2, 3, 8, 8} and "
            "f32{2, 3, 8, 9}");
  const Types pool = {f32({2, 3, 4, 4}), u8({2, 3, 4, 4}), f32({2, 3, 4, 4})};
  EXPECT_EQ(outcome(OpKind::MaxPoolReluGrad, pool, Pool2dGradAttrs{.height = 8, .width = 8}),
            "f32{2, 3, 8, 8}");
  EXPECT_EQ(outcome(OpKind::MaxPoolReluGrad, {pool[0], pool[1], f32({2, 3, 8, 8})},
                    Pool2dGradAttrs{.height = 8, .width = 8}),
            "bad graph: MaxPoolReluGrad: operand types differ, f32{2, 3, 4, 4} and "
            "f32{2, 3, 8, 8}");
}

TEST(FusedRules, ProductsWithSums) {
  EXPECT_EQ(outcome(OpKind::MatMulBiasGrad, {f32({4, 3}), f32({4, 5})}, MatMulAttrs{true, false}),
            "f32{3, 5}, f32{5}");
  EXPECT_EQ(outcome(OpKind::MatMulBiasGrad, {f32({4, 3}), f32({5, 4})}, MatMulAttrs{true, true}),
            "bad graph: MatMulBiasGrad: takes b as it is stored, and no activation");
  EXPECT_EQ(outcome(OpKind::Conv2dWeightBiasGrad, {f32({2, 3, 8, 8}), f32({2, 5, 6, 6})},
                    Conv2dGradAttrs{.height = 3, .width = 3}),
            "f32{5, 3, 3, 3}, f32{5}");
}

TEST(FusedRules, ProductsThatUpdate) {
  const Types in = {f32({3, 5}), f32({4, 3}), f32({4, 5})};
  EXPECT_EQ(outcome(OpKind::MatMulUpdate, in, ProductUpdateAttrs{true, false}), "f32{3, 5}=0");
  EXPECT_EQ(outcome(OpKind::MatMulUpdate, in, ProductUpdateAttrs{true, false, true}),
            "f32{3, 5}=0, f32{5}");
  EXPECT_EQ(
      outcome(OpKind::MatMulUpdate, {f32({5, 3}), in[1], in[2]}, ProductUpdateAttrs{true, false}),
      "bad graph: MatMulUpdate: operand types differ, f32{5, 3} and f32{3, 5}");
  EXPECT_EQ(outcome(OpKind::MatMulUpdate, in, ProductUpdateAttrs{true, true, true}),
            "bad graph: MatMulUpdate: sums the columns of b only as it is stored");
  const Types conv = {f32({5, 3, 3, 3}), f32({2, 3, 8, 8}), f32({2, 5, 6, 6})};
  EXPECT_EQ(outcome(OpKind::Conv2dWeightUpdate, conv, Conv2dUpdateAttrs{}), "f32{5, 3, 3, 3}=0");
  EXPECT_EQ(outcome(OpKind::Conv2dWeightUpdate, conv, Conv2dUpdateAttrs{.bias_grad = true}),
            "f32{5, 3, 3, 3}=0, f32{5}");
}

TEST(FusedRules, ReluWithAMask) {
  const MatMulAttrs relu{.activation = Activation::relu};
  const Types in = {f32({4, 3}), f32({3, 5}), f32({5})};
  EXPECT_EQ(outcome(OpKind::LinearReluMask, in, relu), "f32{4, 5}, u8{4, 5}");
  EXPECT_EQ(outcome(OpKind::LinearReluMask, in, MatMulAttrs{}),
            "bad graph: LinearReluMask: its activation is relu, got none");
  EXPECT_EQ(outcome(OpKind::LinearReluMask, {in[0], in[1], f32({4})}, relu),
            "bad graph: LinearReluMask: the bias must be f32{5}, got f32{4}");
  EXPECT_EQ(op_def(OpKind::LinearReluMask).saved_outputs, 0b10);
  const Types grad = {f32({4, 3}), f32({5, 3}), u8({4, 5})};
  EXPECT_EQ(outcome(OpKind::MatMulMaskGrad, grad, MatMulAttrs{false, true}), "f32{4, 5}");
  EXPECT_EQ(
      outcome(OpKind::MatMulMaskGrad, {grad[0], grad[1], u8({5, 4})}, MatMulAttrs{false, true}),
      "bad graph: MatMulMaskGrad: the saved mask is u8{5, 4}, expected is that of {4, 5}");
  EXPECT_EQ(
      outcome(OpKind::MatMulMaskGrad, {grad[0], grad[1], f32({4, 5})}, MatMulAttrs{false, true}),
      "bad graph: MatMulMaskGrad: the saved mask is f32{4, 5}, expected is that of {4, 5}");
  EXPECT_EQ(outcome(OpKind::MatMulMaskGrad, grad, MatMulAttrs{false, true, Activation::relu}),
            "bad graph: MatMulMaskGrad: takes no activation, got relu");
}

TEST(FusedRules, ASmallProductThatUpdatesWithTheRest) {
  const auto op = OpKind::MatMulSgdUpdate;
  const TensorType w = f32({3, 5}), a = f32({4, 3}), b = f32({4, 5}), step = i32({});
  const TensorType p = f32({5}), q = f32({2, 7});
  EXPECT_EQ(outcome(op, {w, a, b, q, q}, SmallUpdateAttrs{.transpose_a = true}),
            "f32{3, 5}=0, f32{2, 7}=3");
  EXPECT_EQ(outcome(op, {w, a, b, p, q, q, step}, SmallUpdateAttrs{true, false, true, 2, true}),
            "f32{3, 5}=0, f32{5}=3, f32{2, 7}=4, i32{}=6");
  EXPECT_EQ(outcome(op, {w, a, b, p}, SmallUpdateAttrs{.transpose_a = true, .bias = true}),
            "f32{3, 5}=0, f32{5}=3");
  EXPECT_EQ(outcome(op, {w, a, b, q}, SmallUpdateAttrs{.transpose_a = true, .bias = true}),
            "bad graph: MatMulSgdUpdate: the bias must be f32{5}, got f32{2, 7}");
  EXPECT_EQ(outcome(op, {w, a, b, p, q}, SmallUpdateAttrs{.transpose_a = true}),
            "bad graph: MatMulSgdUpdate: operand types differ, f32{5} and f32{2, 7}");
  EXPECT_EQ(outcome(op, {w, a, b, p}, SmallUpdateAttrs{.transpose_a = true}),
            "bad graph: MatMulSgdUpdate: takes 5 inputs, got 4");
  EXPECT_EQ(outcome(op, {q, a, b, p, p}, SmallUpdateAttrs{.transpose_a = true}),
            "bad graph: MatMulSgdUpdate: operand types differ, f32{2, 7} and f32{3, 5}");
  EXPECT_EQ(outcome(op, {w, a, f32({5, 4}), p}, SmallUpdateAttrs{true, true, true}),
            "bad graph: MatMulSgdUpdate: sums the columns of b only as it is stored");
  for (const std::int64_t tensors : {std::int64_t{0}, std::int64_t{42}, INT64_MAX}) {
    EXPECT_EQ(outcome(op, {w}, SmallUpdateAttrs{.tensors = tensors}),
              fmt::format("bad graph: MatMulSgdUpdate: tensors must be 1 to 41, got {}", tensors));
  }
}

TEST(FusedRules, LossWithItsGradient) {
  const auto op = OpKind::SoftmaxCrossEntropyWithGrad;
  EXPECT_EQ(outcome(op, {f32({4, 3}), i32({4})}, {}), "f32{}, f32{4, 3}");
  EXPECT_EQ(outcome(op, {f32({4, 3}), i32({4}), f32({})}, {}), "f32{}, f32{4, 3}");
  EXPECT_EQ(outcome(op, {f32({4, 3}), i32({4}), f32({1})}, {}),
            "bad graph: SoftmaxCrossEntropyWithGrad: operand types differ, f32{1} and f32{}");
  EXPECT_EQ(outcome(op, {f32({4, 3})}, {}),
            "bad graph: SoftmaxCrossEntropyWithGrad: takes 2 or 3 inputs, got 1");
}

ChainAttrs chain(const std::vector<ChainStep>& steps) {
  ChainAttrs attrs{.count = static_cast<std::int64_t>(steps.size())};
  std::copy(steps.begin(), steps.end(), attrs.steps.begin());
  return attrs;
}

TEST(FusedRules, PointwiseChain) {
  const auto op = OpKind::PointwiseChain;
  const TensorType x = f32({2, 3});
  const ChainStep half{OpKind::Scale, ChainOperands::current, 0.5};
  const ChainStep add{OpKind::Add, ChainOperands::current_first};
  const ChainStep from{OpKind::Sub, ChainOperands::current_second};
  EXPECT_EQ(outcome(op, {x}, chain({half})), "f32{2, 3}");
  EXPECT_EQ(outcome(op, {x, x, x}, chain({add, {OpKind::Mul, ChainOperands::both}, from})),
            "f32{2, 3}");
  EXPECT_EQ(outcome(op, {x, x}, chain({half})), "bad graph: PointwiseChain: takes 1 inputs, got 2");
  EXPECT_EQ(outcome(op, {x, f32({6})}, chain({add})),
            "bad graph: PointwiseChain: operand types differ, f32{2, 3} and f32{6}");
  EXPECT_EQ(outcome(op, {x}, chain({{OpKind::Add}})),
            "bad graph: PointwiseChain: step 0, Add, takes 2 operands");
  EXPECT_EQ(outcome(op, {x}, chain({half, {OpKind::AddBias}})),
            "bad graph: PointwiseChain: AddBias cannot be step 1");
  EXPECT_EQ(outcome(op, {x}, chain({{OpKind::Relu, ChainOperands::current, 2.0}})),
            "bad graph: PointwiseChain: step 0, Relu, has a factor");
  EXPECT_EQ(outcome(op, {x}, chain({})),
            "bad graph: PointwiseChain: 0 steps, there may be 1 to 12");
}

TEST(FusedRules, UpdatesOfSeveralTensors) {
  const TensorType w = f32({2, 3}), b = f32({3}), rate = f32({}), step = i32({});
  EXPECT_EQ(outcome(OpKind::SgdUpdate, {w, b, w, b, rate, step}, SgdAttrs{true, 2}),
            "f32{2, 3}=0, f32{3}=1, i32{}=5");
  EXPECT_EQ(outcome(OpKind::SgdUpdate, {w, b, w, b, step}, SgdAttrs{true, 2, true}),
            "f32{2, 3}=0, f32{3}=1, i32{}=4");
  EXPECT_EQ(outcome(OpKind::MomentumUpdate, {w, b, w, b, w, b, rate}, MomentumAttrs{.tensors = 2}),
            "f32{2, 3}=0, f32{3}=1, f32{2, 3}=4, f32{3}=5");
  EXPECT_EQ(outcome(OpKind::AdamUpdate, {w, b, w, b, w, b, w, b, rate, step},
                    AdamAttrs{.advance_step = true, .tensors = 2}),
            "f32{2, 3}=0, f32{3}=1, f32{2, 3}=4, f32{3}=5, f32{2, 3}=6, f32{3}=7, i32{}=9");
  EXPECT_EQ(outcome(OpKind::SgdUpdate, {w, b, b, w, rate}, SgdAttrs{.tensors = 2}),
            "bad graph: SgdUpdate: operand types differ, f32{2, 3} and f32{3}");
  EXPECT_EQ(outcome(OpKind::SgdUpdate, {w, w, rate}, SgdAttrs{.tensors = 0}),
            "bad graph: SgdUpdate: tensors must be 1 to 44, got 0");
  // Twice as many and two are none, in 64 bits.
  EXPECT_EQ(outcome(OpKind::SgdUpdate, {}, SgdAttrs{true, INT64_MAX}),
            "bad graph: SgdUpdate: tensors must be 1 to 44, got 9223372036854775807");
}

Work work_of(OpKind kind, const Types& in, const Attrs& attrs) {
  TypeList out;
  op_def(kind).infer(in, attrs, out);
  return op_def(kind).work(in, {out.data(), out.size()}, attrs);
}

// A fused op does the arithmetic of its parts and moves fewer bytes.
TEST(FusedRules, Work) {
  const TensorType x = f32({4, 3}), w = f32({3, 5}), y = f32({4, 5}), b = f32({5});
  EXPECT_EQ(work_of(OpKind::Linear, {x, w, b}, MatMulAttrs{.activation = Activation::relu}).flops,
            2 * 4 * 3 * 5 + 2 * 20);
  const Work update = work_of(OpKind::MatMulUpdate, {w, x, y}, ProductUpdateAttrs{true, false});
  EXPECT_EQ(update.flops, 2 * 4 * 3 * 5 + 15);
  EXPECT_EQ(update.bytes, 4 * (15 + 12 + 20 + 15));
  const Work small =
      work_of(OpKind::MatMulSgdUpdate, {w, x, y, b, x, x}, SmallUpdateAttrs{true, false, true, 2});
  EXPECT_EQ(small.flops, 2 * 4 * 3 * 5 + 15 + 20 + 5 + 12);
  EXPECT_EQ(small.bytes, 4 * (15 + 12 + 20 + 5 + 12 + 12 + 15 + 5 + 12));
  const ChainStep half{OpKind::Scale, ChainOperands::current, 0.5};
  const Work three = work_of(OpKind::PointwiseChain, {x}, chain({half, half, half}));
  EXPECT_EQ(three.flops, 36);
  EXPECT_EQ(three.bytes, 2 * 48) << "read once, written once";
}

}  // namespace
}  // namespace stepscope
