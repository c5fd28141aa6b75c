// Shape rules: what each op makes of its inputs, and what it says when they do not fit.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "ops/ir/op_def.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using Types = std::vector<TensorType>;

TensorType f32(std::initializer_list<std::int64_t> dims) { return {Shape(dims), DType::f32}; }
TensorType f64(std::initializer_list<std::int64_t> dims) { return {Shape(dims), DType::f64}; }
TensorType i32(std::initializer_list<std::int64_t> dims) { return {Shape(dims), DType::i32}; }

// As Graph::apply uses the rule, with the check of what it makes.
std::string outcome(OpKind kind, const Types& in, const Attrs& attrs) {
  std::string types;
  const std::string error = test::error_of([&] {
    Graph graph;
    std::vector<ValueId> inputs;
    for (std::size_t i = 0; i < in.size(); ++i) {
      inputs.push_back(graph.declare(Role::parameter, in[i], fmt::format("p{}", i)));
    }
    for (const ValueId id : graph.apply(kind, inputs, attrs)) {
      types += fmt::format("{}{}", types.empty() ? "" : ", ", to_string(graph.type(id)));
    }
  });
  return error == "no error" ? types : error;
}

struct Rule {
  OpKind kind;
  Types in;
  Attrs attrs;
  std::string outcome;
};

void expect(const std::vector<Rule>& rules) {
  for (const Rule& rule : rules) EXPECT_EQ(outcome(rule.kind, rule.in, rule.attrs), rule.outcome);
}

TEST(ShapeRules, MatMul) {
  const auto op = OpKind::MatMul;
  expect({
      {op, {f32({2, 3}), f32({3, 5})}, MatMulAttrs{}, "f32{2, 5}"},
      {op, {f32({3, 2}), f32({3, 5})}, MatMulAttrs{true, false}, "f32{2, 5}"},
      {op, {f32({2, 3}), f32({5, 3})}, MatMulAttrs{false, true}, "f32{2, 5}"},
      {op, {f64({3, 2}), f64({5, 3})}, MatMulAttrs{true, true}, "f64{2, 5}"},
      {op,
       {f32({32, 784}), f32({512, 10})},
       MatMulAttrs{},
       "bad graph: MatMul: inner sizes differ, 784 and 512"},
      {op,
       {f32({2, 3}), f32({3, 5})},
       MatMulAttrs{true, false},
       "bad graph: MatMul: inner sizes differ, 2 and 3"},
      {op, {f32({2, 3})}, MatMulAttrs{}, "bad graph: MatMul: takes 2 inputs, got 1"},
      {op,
       {f32({2, 3, 4}), f32({3, 5})},
       MatMulAttrs{},
       "bad graph: MatMul: a must have rank 2, f32{2, 3, 4} has rank 3"},
      {op,
       {f32({2, 3}), f32({3})},
       MatMulAttrs{},
       "bad graph: MatMul: b must have rank 2, f32{3} has rank 1"},
      {op,
       {i32({2, 3}), i32({3, 5})},
       MatMulAttrs{},
       "bad graph: MatMul: a must be floating, got i32{2, 3}"},
      {op,
       {f32({2, 3}), i32({3, 5})},
       MatMulAttrs{},
       "bad graph: MatMul: b must be floating, got i32{3, 5}"},
      {op,
       {f32({2, 3}), f64({3, 5})},
       MatMulAttrs{},
       "bad graph: MatMul: element types differ, f32 and f64"},
      {op,
       {f32({2, 3}), f32({3, 5})},
       {},
       "bad graph: MatMul: its attributes are missing, or another op's"},
  });
}

TEST(ShapeRules, AddBias) {
  const auto op = OpKind::AddBias;
  expect({
      {op, {f32({2, 3}), f32({3})}, {}, "f32{2, 3}"},
      {op, {f32({2, 3, 4, 5}), f32({3})}, {}, "f32{2, 3, 4, 5}"},
      {op, {f32({2, 3}), f32({2})}, {}, "bad graph: AddBias: x {2, 3} has 3 channels, bias has 2"},
      {op, {f32({3}), f32({3})}, {}, "bad graph: AddBias: x must have rank 2 or more, got f32{3}"},
      {op,
       {f32({2, 3}), f32({3, 1})},
       {},
       "bad graph: AddBias: bias must have rank 1, f32{3, 1} has rank 2"},
      {op, {f32({2, 3}), f64({3})}, {}, "bad graph: AddBias: element types differ, f32 and f64"},
      {op, {i32({2, 3}), i32({3})}, {}, "bad graph: AddBias: x must be floating, got i32{2, 3}"},
      {op, {f32({2, 3}), f32({3}), f32({3})}, {}, "bad graph: AddBias: takes 2 inputs, got 3"},
  });
}

TEST(ShapeRules, PointwiseWithOneInput) {
  for (const OpKind op : {OpKind::Relu, OpKind::Tanh, OpKind::Sigmoid}) {
    expect({
        {op, {f32({2, 3, 4})}, {}, "f32{2, 3, 4}"},
        {op, {f64({})}, {}, "f64{}"},
        {op,
         {i32({2})},
         {},
         fmt::format("bad graph: {}: x must be floating, got i32{{2}}", name(op))},
        {op, {}, {}, fmt::format("bad graph: {}: takes 1 inputs, got 0", name(op))},
    });
  }
}

TEST(ShapeRules, Scale) {
  const auto op = OpKind::Scale;
  expect({
      {op, {f32({2, 3})}, ScaleAttrs{0.5}, "f32{2, 3}"},
      {op, {i32({2})}, ScaleAttrs{0.5}, "bad graph: Scale: x must be floating, got i32{2}"},
      {op, {f32({2}), f32({2})}, ScaleAttrs{0.5}, "bad graph: Scale: takes 1 inputs, got 2"},
      {op,
       {f32({2})},
       ReduceAttrs{0},
       "bad graph: Scale: its attributes are missing, or another op's"},
  });
}

TEST(ShapeRules, PointwiseWithTwoInputs) {
  for (const OpKind op : {OpKind::Add, OpKind::Sub, OpKind::Mul, OpKind::ReluGrad, OpKind::TanhGrad,
                          OpKind::SigmoidGrad}) {
    const std::string who = fmt::format("bad graph: {}: ", name(op));
    expect({
        {op, {f32({2, 3}), f32({2, 3})}, {}, "f32{2, 3}"},
        {op, {f32({2, 3}), f32({3, 2})}, {}, who + "operand types differ, f32{2, 3} and f32{3, 2}"},
        {op, {f32({2}), f64({2})}, {}, who + "operand types differ, f32{2} and f64{2}"},
        {op, {i32({2}), i32({2})}, {}, who + "the first operand must be floating, got i32{2}"},
        {op, {f32({2})}, {}, who + "takes 2 inputs, got 1"},
    });
  }
}

TEST(ShapeRules, Fill) {
  const auto op = OpKind::Fill;
  expect({
      {op, {}, FillAttrs{f32({2, 3}), 1.0}, "f32{2, 3}"},
      {op, {}, FillAttrs{f64({}), 1.0}, "f64{}"},
      {op, {}, FillAttrs{i32({2}), 1.0}, "bad graph: Fill: the value must be floating, got i32{2}"},
      {op, {}, FillAttrs{f32({0}), 1.0}, "bad graph: Fill: dimension 0 of f32{0} is below one"},
      {op, {f32({2})}, FillAttrs{f32({2}), 1.0}, "bad graph: Fill: takes 0 inputs, got 1"},
      {op, {}, {}, "bad graph: Fill: its attributes are missing, or another op's"},
  });
}

TEST(ShapeRules, ReduceSum) {
  const auto op = OpKind::ReduceSum;
  expect({
      {op, {f32({2, 3, 4})}, ReduceAttrs{0}, "f32{3, 4}"},
      {op, {f32({2, 3, 4})}, ReduceAttrs{1}, "f32{2, 4}"},
      {op, {f32({2, 3, 4})}, ReduceAttrs{2}, "f32{2, 3}"},
      {op, {f32({5})}, ReduceAttrs{0}, "f32{}"},
      {op,
       {f32({2, 3})},
       ReduceAttrs{2},
       "bad graph: ReduceSum: axis 2 is not in {2, 3} of rank 2"},
      {op,
       {f32({2, 3})},
       ReduceAttrs{-1},
       "bad graph: ReduceSum: axis -1 is not in {2, 3} of rank 2"},
      {op, {f32({})}, ReduceAttrs{0}, "bad graph: ReduceSum: axis 0 is not in {} of rank 0"},
      {op, {i32({2})}, ReduceAttrs{0}, "bad graph: ReduceSum: x must be floating, got i32{2}"},
      {op, {}, ReduceAttrs{0}, "bad graph: ReduceSum: takes 1 inputs, got 0"},
      {op, {f32({2})}, {}, "bad graph: ReduceSum: its attributes are missing, or another op's"},
  });
}

TEST(ShapeRules, Broadcast) {
  const auto op = OpKind::Broadcast;
  expect({
      {op, {f32({3, 4})}, BroadcastAttrs{0, 2}, "f32{2, 3, 4}"},
      {op, {f32({3, 4})}, BroadcastAttrs{1, 2}, "f32{3, 2, 4}"},
      {op, {f32({3, 4})}, BroadcastAttrs{2, 2}, "f32{3, 4, 2}"},
      {op, {f32({})}, BroadcastAttrs{0, 5}, "f32{5}"},
      {op,
       {f32({3, 4})},
       BroadcastAttrs{3, 2},
       "bad graph: Broadcast: axis 3 does not fit {3, 4} of rank 2"},
      {op,
       {f32({3})},
       BroadcastAttrs{0, 0},
       "bad graph: Broadcast: dimension 0 of f32{0, 3} is below one"},
      {op,
       {f32({3, 1 << 20, 1 << 20})},
       BroadcastAttrs{0, 1 << 10},
       "bad graph: Broadcast: f32{1024, 3, 1048576, 1048576} has more than 2^47 bytes"},
      {op,
       {f32({1, 1, 1, 1, 1, 1})},
       BroadcastAttrs{0, 2},
       "bad graph: Broadcast: {1, 1, 1, 1, 1, 1} has rank 6 already"},
      {op,
       {i32({2})},
       BroadcastAttrs{0, 2},
       "bad graph: Broadcast: x must be floating, got i32{2}"},
      {op, {}, BroadcastAttrs{0, 2}, "bad graph: Broadcast: takes 1 inputs, got 0"},
      {op, {f32({2})}, {}, "bad graph: Broadcast: its attributes are missing, or another op's"},
  });
}

TEST(ShapeRules, LogitsAndLabels) {
  const std::vector<std::pair<OpKind, std::string>> ops = {
      {OpKind::SoftmaxCrossEntropy, "f32{}, f32{4, 3}"},
      {OpKind::SoftmaxCrossEntropyGrad, "f32{4, 3}"},
      {OpKind::CorrectCount, "i32{}"}};
  for (const auto& [op, made] : ops) {
    const std::string who = fmt::format("bad graph: {}: ", name(op));
    expect({
        {op, {f32({4, 3}), i32({4})}, {}, made},
        {op, {f32({4}), i32({4})}, {}, who + "logits must have rank 2, f32{4} has rank 1"},
        {op, {i32({4, 3}), i32({4})}, {}, who + "logits must be floating, got i32{4, 3}"},
        {op, {f32({4, 3}), i32({4, 1})}, {}, who + "labels must have rank 1, i32{4, 1} has rank 2"},
        {op, {f32({4, 3}), f32({4})}, {}, who + "labels must be i32, got f32{4}"},
        {op, {f32({4, 3}), i32({5})}, {}, who + "5 labels for 4 rows"},
    });
  }
  expect({{OpKind::SoftmaxCrossEntropy,
           {f32({4, 3})},
           {},
           "bad graph: SoftmaxCrossEntropy: takes 2 inputs, got 1"},
          {OpKind::CorrectCount,
           {f32({4, 3})},
           {},
           "bad graph: CorrectCount: takes 2 inputs, got 1"}});
}

TEST(ShapeRules, SoftmaxCrossEntropyGrad) {
  const auto op = OpKind::SoftmaxCrossEntropyGrad;
  expect({
      {op, {f32({4, 3}), i32({4}), f32({})}, {}, "f32{4, 3}"},
      {op,
       {f32({4, 3}), i32({4}), f64({})},
       {},
       "bad graph: SoftmaxCrossEntropyGrad: operand types differ, f64{} and f32{}"},
      {op,
       {f32({4, 3}), i32({4}), f32({1})},
       {},
       "bad graph: SoftmaxCrossEntropyGrad: operand types differ, f32{1} and f32{}"},
      {op, {f32({4, 3})}, {}, "bad graph: SoftmaxCrossEntropyGrad: takes 2 or 3 inputs, got 1"},
      {op,
       {f32({4, 3}), i32({4}), f32({}), f32({})},
       {},
       "bad graph: SoftmaxCrossEntropyGrad: takes 2 or 3 inputs, got 4"},
  });
}

TEST(ShapeRules, Argmax) {
  const auto op = OpKind::Argmax;
  expect({
      {op, {f32({4, 3})}, {}, "i32{4}"},
      {op, {f32({4})}, {}, "bad graph: Argmax: logits must have rank 2, f32{4} has rank 1"},
      {op, {i32({4, 3})}, {}, "bad graph: Argmax: logits must be floating, got i32{4, 3}"},
      {op, {f32({4, 3}), f32({4, 3})}, {}, "bad graph: Argmax: takes 1 inputs, got 2"},
  });
}

TEST(ShapeRules, SgdUpdate) {
  const auto op = OpKind::SgdUpdate;
  const TensorType w = f32({2, 3}), rate = f32({}), step = i32({});
  expect({
      {op, {w, w, rate}, SgdAttrs{false}, "f32{2, 3}"},
      {op, {w, w, rate, step}, SgdAttrs{true}, "f32{2, 3}, i32{}"},
      {op, {w, w, rate}, SgdAttrs{true}, "bad graph: SgdUpdate: takes 4 inputs, got 3"},
      {op, {w, w, rate, step}, SgdAttrs{false}, "bad graph: SgdUpdate: takes 3 inputs, got 4"},
      {op,
       {w, f32({6}), rate},
       SgdAttrs{},
       "bad graph: SgdUpdate: operand types differ, f32{2, 3} and f32{6}"},
      {op,
       {w, w, f32({1})},
       SgdAttrs{},
       "bad graph: SgdUpdate: operand types differ, f32{1} and f32{}"},
      {op,
       {w, w, f64({})},
       SgdAttrs{},
       "bad graph: SgdUpdate: operand types differ, f64{} and f32{}"},
      {op,
       {w, w, rate, f32({})},
       SgdAttrs{true},
       "bad graph: SgdUpdate: operand types differ, f32{} and i32{}"},
      {op,
       {i32({2}), i32({2}), rate},
       SgdAttrs{},
       "bad graph: SgdUpdate: the parameter must be floating, got i32{2}"},
      {op, {w, w, rate}, {}, "bad graph: SgdUpdate: its attributes are missing, or another op's"},
  });
}

TEST(ShapeRules, MomentumUpdate) {
  const auto op = OpKind::MomentumUpdate;
  const TensorType w = f32({2, 3}), rate = f32({}), step = i32({});
  expect({
      {op, {w, w, w, rate}, MomentumAttrs{}, "f32{2, 3}, f32{2, 3}"},
      {op, {w, w, w, rate, step}, MomentumAttrs{0.9, true}, "f32{2, 3}, f32{2, 3}, i32{}"},
      {op,
       {w, w, f32({3}), rate},
       MomentumAttrs{},
       "bad graph: MomentumUpdate: operand types differ, f32{2, 3} and f32{3}"},
      {op, {w, w, rate}, MomentumAttrs{}, "bad graph: MomentumUpdate: takes 4 inputs, got 3"},
      {op,
       {w, w, w, rate},
       MomentumAttrs{1.0, false},
       "bad graph: MomentumUpdate: mu must be in [0, 1), got 1"},
      {op,
       {w, w, w, rate},
       MomentumAttrs{-0.5, false},
       "bad graph: MomentumUpdate: mu must be in [0, 1), got -0.5"},
      {op,
       {w, w, w, rate},
       SgdAttrs{},
       "bad graph: MomentumUpdate: its attributes are missing, or another op's"},
  });
}

TEST(ShapeRules, AdamUpdate) {
  const auto op = OpKind::AdamUpdate;
  const TensorType w = f32({2, 3}), rate = f32({}), step = i32({});
  const Types in = {w, w, w, w, rate, step};
  expect({
      {op, in, AdamAttrs{}, "f32{2, 3}, f32{2, 3}, f32{2, 3}"},
      {op, in, AdamAttrs{.advance_step = true}, "f32{2, 3}, f32{2, 3}, f32{2, 3}, i32{}"},
      {op, {w, w, w, w, rate}, AdamAttrs{}, "bad graph: AdamUpdate: takes 6 inputs, got 5"},
      {op,
       {w, w, w, f32({3}), rate, step},
       AdamAttrs{},
       "bad graph: AdamUpdate: operand types differ, f32{2, 3} and f32{3}"},
      {op, in, AdamAttrs{.beta1 = 1.0}, "bad graph: AdamUpdate: betas must be in [0, 1), got 1"},
      {op, in, AdamAttrs{.beta2 = -1.0}, "bad graph: AdamUpdate: betas must be in [0, 1), got -1"},
      {op, in, AdamAttrs{.epsilon = 0.0}, "bad graph: AdamUpdate: epsilon must be above 0, got 0"},
      {op, in, {}, "bad graph: AdamUpdate: its attributes are missing, or another op's"},
  });
}

TEST(ShapeRules, ScheduledRate) {
  const auto op = OpKind::ScheduledRate;
  const Types in = {f32({}), i32({})};
  expect({
      {op, in, ScheduleAttrs{}, "f32{}"},
      {op, {f64({}), i32({})}, ScheduleAttrs{}, "f64{}"},
      {op, {f32({})}, ScheduleAttrs{}, "bad graph: ScheduledRate: takes 2 inputs, got 1"},
      {op,
       {f32({1}), i32({})},
       ScheduleAttrs{},
       "bad graph: ScheduledRate: operand types differ, f32{1} and f32{}"},
      {op,
       {f32({}), f32({})},
       ScheduleAttrs{},
       "bad graph: ScheduledRate: operand types differ, f32{} and i32{}"},
      {op, in, ScheduleAttrs{.steps = 0},
       "bad graph: ScheduledRate: steps must be in [1, 2147483647], got 0"},
      {op, in, ScheduleAttrs{.warmup = -1},
       "bad graph: ScheduledRate: warmup must be in [0, 2147483647], got -1"},
      {op, in, ScheduleAttrs{.factor = 0.0},
       "bad graph: ScheduledRate: factor must be above 0, got 0"},
      {op, in, ScheduleAttrs{.floor = 1.5},
       "bad graph: ScheduledRate: floor must be in [0, 1], got 1.5"},
      {op, in, ScheduleAttrs{.start = -0.5},
       "bad graph: ScheduledRate: start must be in [0, 1], got -0.5"},
      {op, in, {}, "bad graph: ScheduledRate: its attributes are missing, or another op's"},
  });
}

}  // namespace
}  // namespace stepscope
