// Chains of pointwise ops: which operand each step takes, and where a chain ends.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/models/model.h"
#include "tests/graph/fusion_rig.h"

namespace stepscope {
namespace {

using test::kinds_of;
using test::notes_of;
using test::run_pass;

class Pointwise : public testing::Test {
 protected:
  PassResult chained() { return run_pass(fuse_pointwise, graph_); }

  const TensorType type_{{2, 3}, DType::f32};
  Graph graph_;
  ValueId x_ = graph_.declare(Role::input, type_, "x");
  ValueId y_ = graph_.declare(Role::input, type_, "y");
  ValueId z_ = graph_.declare(Role::input, type_, "z");
};

TEST_F(Pointwise, StepsSayWhichOperandTheyTake) {
  ValueId v = build::sub(graph_, x_, y_);
  v = build::sub(graph_, z_, v);
  v = build::mul(graph_, v, v);
  v = build::scale(graph_, v, -0.5);
  v = build::tanh(graph_, v);
  graph_.keep(graph_.apply1(OpKind::SigmoidGrad, {v, x_}), "out");
  const Graph graph = chained().graph;
  ASSERT_EQ(kinds_of(graph), std::vector{OpKind::PointwiseChain});
  const Op& op = graph.ops()[0];
  EXPECT_EQ(op.inputs, (std::vector<ValueId>{x_, y_, z_, x_}));
  EXPECT_EQ(graph.label(op.outputs[0]), "out");
  const auto& chain = std::get<ChainAttrs>(op.attrs);
  ASSERT_EQ(chain.count, 6);
  EXPECT_EQ(chain.steps[0], (ChainStep{OpKind::Sub, ChainOperands::current_first}));
  EXPECT_EQ(chain.steps[1], (ChainStep{OpKind::Sub, ChainOperands::current_second}));
  EXPECT_EQ(chain.steps[2], (ChainStep{OpKind::Mul, ChainOperands::both}));
  EXPECT_EQ(chain.steps[3], (ChainStep{OpKind::Scale, ChainOperands::current, -0.5}));
  EXPECT_EQ(chain.steps[4], (ChainStep{OpKind::Tanh, ChainOperands::current}));
  EXPECT_EQ(chain.steps[5], (ChainStep{OpKind::SigmoidGrad, ChainOperands::current_first}));
}

TEST_F(Pointwise, AChainMayBeginWithBothOperandsTheSame) {
  graph_.keep(build::relu(graph_, build::add(graph_, x_, x_)), "out");
  const Graph graph = chained().graph;
  ASSERT_EQ(graph.ops().size(), 1U);
  EXPECT_EQ(graph.ops()[0].inputs, std::vector<ValueId>{x_});
  EXPECT_EQ(std::get<ChainAttrs>(graph.ops()[0].attrs).steps[0].operands, ChainOperands::both);
}

TEST_F(Pointwise, UnitesPhases) {
  const ValueId v = build::relu(graph_, x_);
  graph_.enter(Phase::backward);
  graph_.keep(build::tanh(graph_, v), "out");
  EXPECT_EQ(chained().graph.ops()[0].phases, Phase::forward | PhaseSet(Phase::backward));
}

TEST_F(Pointwise, AChainHasTwelveStepsAtMost) {
  const Graph step = make_model("chain:30").step(1);
  const PassResult result = run_pass(fuse_pointwise, step);
  std::vector<std::int64_t> counts;
  for (const Op& op : result.graph.ops()) {
    counts.push_back(std::get<ChainAttrs>(op.attrs).count);
  }
  EXPECT_EQ(counts, (std::vector<std::int64_t>{12, 12, 6}));
  EXPECT_EQ(notes_of(result), "chains of 12 links go on in another one: 2");
}

TEST_F(Pointwise, EndsAtAKeptValue) {
  const ValueId v = build::relu(graph_, build::tanh(graph_, x_));
  graph_.keep(v, "v");
  graph_.keep(build::sigmoid(graph_, v), "out");
  const PassResult result = chained();
  EXPECT_EQ(kinds_of(result.graph), (std::vector{OpKind::PointwiseChain, OpKind::Sigmoid}));
  EXPECT_EQ(notes_of(result), "the chain ends at Relu v: v is kept");
}

TEST_F(Pointwise, EndsAtAValueWithTwoReaders) {
  const ValueId v = build::tanh(graph_, x_);
  graph_.keep(build::relu(graph_, v), "a");
  graph_.keep(build::sigmoid(graph_, v), "b");
  test::expect_unchanged(fuse_pointwise, graph_, "the chain ends at Tanh %0: %0 has 2 readers");
}

TEST_F(Pointwise, EndsAtAView) {
  const ValueId v = graph_.reshape(build::tanh(graph_, x_), {3, 2});
  graph_.keep(build::relu(graph_, v), "out");
  test::expect_unchanged(fuse_pointwise, graph_,
                         "the chain ends at Tanh %0: %0 is read under another shape");
}

TEST_F(Pointwise, EndsAtAViewBesideTheValueItself) {
  const ValueId v = build::tanh(graph_, x_);
  graph_.keep(build::add(graph_, v, graph_.reshape(v, {2, 3})), "out");
  test::expect_unchanged(fuse_pointwise, graph_,
                         "the chain ends at Tanh %0: %0 is read under another shape");
}

TEST_F(Pointwise, EndsWhereAnotherOpReads) {
  const ValueId v = build::relu(graph_, build::tanh(graph_, x_));
  graph_.keep(build::reduce_sum(graph_, v, 0), "out");
  const PassResult result = chained();
  EXPECT_EQ(kinds_of(result.graph), (std::vector{OpKind::PointwiseChain, OpKind::ReduceSum}));
  EXPECT_EQ(notes_of(result), "");
}

TEST_F(Pointwise, AnOpIsInOneChain) {
  const ValueId a = build::tanh(graph_, build::relu(graph_, x_));
  const ValueId b = build::sigmoid(graph_, build::relu(graph_, y_));
  graph_.keep(build::add(graph_, a, b), "out");
  const Graph graph = chained().graph;
  EXPECT_EQ(kinds_of(graph), (std::vector{OpKind::PointwiseChain, OpKind::PointwiseChain}));
  EXPECT_EQ(std::get<ChainAttrs>(graph.ops()[0].attrs).count +
                std::get<ChainAttrs>(graph.ops()[1].attrs).count,
            5);
}

TEST_F(Pointwise, LeavesAChainThatWouldReadWhatIsOverwritten) {
  const ValueId w = graph_.declare(Role::parameter, type_, "w");
  const ValueId rate = graph_.declare(Role::state, {Shape{}, DType::f32}, "rate");
  const ValueId v = build::mul(graph_, x_, w);
  const ValueId new_w = graph_.apply1(OpKind::SgdUpdate, {w, x_, rate}, SgdAttrs{});
  graph_.keep(build::add(graph_, v, new_w), "out");
  test::expect_unchanged(fuse_pointwise, graph_,
                         "the chain to out stays apart: between op 0 and op 2 something is "
                         "overwritten or read too early");
}

TEST_F(Pointwise, SaysThatThereIsNothing) {
  graph_.keep(build::relu(graph_, x_), "out");
  test::expect_unchanged(fuse_pointwise, graph_, "no two pointwise ops follow each other");
}

}  // namespace
}  // namespace stepscope
