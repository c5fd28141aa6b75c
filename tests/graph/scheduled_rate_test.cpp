// The rate of a schedule in the passes: where its op stands, who takes its result, and when the
// folded SGD leaves a step as it is.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/plan/schedule.h"
#include "ops/ir/copy.h"
#include "ops/models/model.h"
#include "ops/models/schedule.h"
#include "tests/graph/fusion_rig.h"

namespace stepscope {
namespace {

using test::count;
using test::notes_of;
using test::op_of;
using test::run_pass;

Graph step_of(OptimizerSpec::Kind kind, std::string_view schedule) {
  return simplify(
      make_model("mlp:5-4-3", {.kind = kind, .schedule = parse_schedule(schedule)}).step(2));
}

std::size_t place_of(const Graph& graph, OpKind kind) {
  std::size_t place = 0;
  while (graph.ops()[place].kind != kind) ++place;
  return place;
}

TEST(ScheduledRates, AreWhatTheUpdatesTake) {
  for (const auto kind :
       {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::momentum, OptimizerSpec::Kind::adam}) {
    const Graph graph = step_of(kind, "cosine:7");
    ASSERT_EQ(count(graph, OpKind::ScheduledRate), 1);
    const Op& made = op_of(graph, OpKind::ScheduledRate);
    EXPECT_EQ(made.inputs, (std::vector{*graph.find(kLearningRate), *graph.find(kStepCount)}));
    EXPECT_EQ(made.phases, PhaseSet(Phase::update));
    int readers = 0;
    for (const Op& op : graph.ops()) {
      const bool reads = std::ranges::count(op.inputs, made.outputs[0]) != 0;
      const bool overwrites = graph.value(op.outputs[0]).sharing == Sharing::overwrite;
      EXPECT_EQ(reads, overwrites) << name(op.kind);
      readers += reads ? 1 : 0;
    }
    EXPECT_EQ(readers, 4);
  }
}

TEST(ScheduledRates, ThatAreConstantAreNoOp) {
  for (const auto kind : {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::adam}) {
    EXPECT_EQ(count(step_of(kind, "constant"), OpKind::ScheduledRate), 0);
  }
}

// Updates wait for nothing but their gradients: the rate is made first.
TEST(ScheduledRates, StandAtTheStart) {
  const Graph graph = step_of(OptimizerSpec::Kind::sgd, "cosine:7");
  const Graph ordered = reordered(graph, schedule(graph));
  EXPECT_EQ(place_of(ordered, OpKind::ScheduledRate), 0U);
  const Graph plain = step_of(OptimizerSpec::Kind::sgd, "constant");
  const Graph ordered_plain = reordered(plain, schedule(plain));
  for (std::size_t i = 0; i < ordered_plain.ops().size(); ++i) {
    EXPECT_EQ(ordered.ops()[i + 1].kind, ordered_plain.ops()[i].kind) << i;
  }
}

TEST(ScheduledRates, ScaleTheLossGradientOfAFoldedStep) {
  const Graph graph = step_of(OptimizerSpec::Kind::sgd, "warmup:3,step:2");
  const PassResult folded = run_pass(fold_sgd, fuse_loss_grad(graph).graph);
  EXPECT_EQ(notes_of(folded), "");
  EXPECT_EQ(count(folded.graph, OpKind::MatMulUpdate), 2);
  const Op& rate = op_of(folded.graph, OpKind::ScheduledRate);
  const Op& loss = op_of(folded.graph, OpKind::SoftmaxCrossEntropyWithGrad);
  ASSERT_EQ(loss.inputs.size(), 3U);
  EXPECT_EQ(loss.inputs[2], rate.outputs[0]);
  EXPECT_EQ(rate.attrs, Attrs(parse_schedule("warmup:3,step:2")));
  EXPECT_LT(place_of(folded.graph, OpKind::ScheduledRate),
            place_of(folded.graph, OpKind::SoftmaxCrossEntropyWithGrad));
  for (const Op& op : folded.graph.ops()) {
    if (const auto* sgd = std::get_if<SgdAttrs>(&op.attrs)) {
      EXPECT_TRUE(sgd->scaled_gradient);
    }
  }
}

TEST(ScheduledRates, OfMomentumAreNotFolded) {
  const Graph graph = step_of(OptimizerSpec::Kind::momentum, "cosine:7");
  const PassResult result = run_pass(fold_sgd, graph);
  EXPECT_EQ(count(result.graph, OpKind::MatMulUpdate), 0);
  EXPECT_NE(notes_of(result).find("is updated by MomentumUpdate, not by plain SGD"),
            std::string::npos);
}

TEST(ScheduledRates, OfAnotherStepAreNotFolded) {
  Graph graph = make_model("mlp:5-3").step(2);
  const ValueId rate = *graph.find(kLearningRate), step = graph.ops().back().outputs.back();
  const ValueId other =
      graph.apply1(OpKind::ScheduledRate, {rate, step}, parse_schedule("exponential:0.9"));
  graph.keep(other, "other");
  const PassResult result = run_pass(fold_sgd, simplify(graph));
  EXPECT_EQ(count(result.graph, OpKind::MatMulUpdate), 0);
  EXPECT_EQ(notes_of(result), "ScheduledRate other reads a step count that the step has changed");
}

// A lawful step, in which the rate follows a count that the loss itself leaves behind.
Graph step_by_correct_rows(bool before_the_loss_gradient) {
  Graph graph;
  const ValueId x = graph.declare(Role::input, {{4, 5}, DType::f32}, "x");
  const ValueId labels = graph.declare(Role::input, {{4}, DType::i32}, "labels");
  const ValueId w = graph.declare(Role::parameter, {{5, 3}, DType::f32}, "w");
  const ValueId lr = graph.declare(Role::state, {Shape{}, DType::f32}, std::string(kLearningRate));
  graph.enter(Phase::forward);
  const ValueId y = graph.apply1(OpKind::MatMul, {x, w}, MatMulAttrs{});
  graph.enter(Phase::loss);
  ValueId correct;
  if (before_the_loss_gradient) correct = graph.apply1(OpKind::CorrectCount, {y, labels});
  const auto loss = graph.apply(OpKind::SoftmaxCrossEntropyWithGrad, {y, labels});
  if (!before_the_loss_gradient) correct = graph.apply1(OpKind::CorrectCount, {y, labels});
  graph.enter(Phase::backward);
  const ValueId gradient =
      graph.apply1(OpKind::MatMul, {x, loss[1]}, MatMulAttrs{.transpose_a = true});
  graph.enter(Phase::update);
  const ValueId rate =
      graph.apply1(OpKind::ScheduledRate, {lr, correct}, parse_schedule("cosine:9"));
  graph.apply(OpKind::SgdUpdate, {w, gradient, rate}, SgdAttrs{});
  graph.keep(loss[0], "loss");
  return graph;
}

TEST(ScheduledRates, WhoseStepIsMadeBehindTheLossAreNotFolded) {
  const PassResult folded = run_pass(fold_sgd, step_by_correct_rows(true));
  EXPECT_EQ(notes_of(folded), "");
  EXPECT_EQ(count(folded.graph, OpKind::MatMulUpdate), 1);
  const PassResult refused = run_pass(fold_sgd, step_by_correct_rows(false));
  EXPECT_EQ(count(refused.graph, OpKind::MatMulUpdate), 0);
  EXPECT_EQ(notes_of(refused), "ScheduledRate %5 reads %3, which is made behind the loss gradient");
}

}  // namespace
}  // namespace stepscope
