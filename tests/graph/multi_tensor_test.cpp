// Updates of several tensors at once: what goes together, in which order, and what stays apart.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/models/model.h"
#include "tests/graph/fusion_rig.h"

namespace stepscope {
namespace {

using test::count;
using test::notes_of;
using test::run_pass;

class MultiTensor : public testing::Test {
 protected:
  ValueId parameter(std::string name, DType dtype = DType::f32) {
    return graph_.declare(Role::parameter, {{4}, dtype}, std::move(name));
  }
  ValueId sgd(ValueId w, ValueId gradient) { return sgd(w, gradient, rate_); }
  ValueId sgd(ValueId w, ValueId gradient, ValueId rate) {
    return graph_.apply1(OpKind::SgdUpdate, {w, gradient, rate}, SgdAttrs{});
  }
  PassResult merged() { return run_pass(fuse_multi_tensor, graph_); }
  std::vector<std::string> labels(const Graph& graph, const std::vector<ValueId>& ids) {
    std::vector<std::string> all;
    for (const ValueId id : ids) all.push_back(graph.label(graph.storage(id)));
    return all;
  }

  Graph graph_;
  ValueId rate_ = graph_.declare(Role::state, {Shape{}, DType::f32}, "control.lr");
  ValueId step_ = graph_.declare(Role::state, {Shape{}, DType::i32}, "control.step");
  ValueId g_ = graph_.declare(Role::input, {{4}, DType::f32}, "g");
  ValueId h_ = graph_.declare(Role::input, {{4}, DType::f32}, "h");
  ValueId a_ = parameter("a"), b_ = parameter("b"), c_ = parameter("c");
};

using Labels = std::vector<std::string>;

TEST_F(MultiTensor, StandsWhereTheLastWasAndCountsTheStep) {
  graph_.enter(Phase::backward);
  sgd(a_, g_);
  const ValueId late = build::relu(graph_, h_);
  graph_.enter(Phase::update);
  graph_.apply(OpKind::SgdUpdate, {b_, late, rate_, step_}, SgdAttrs{true});
  const PassResult result = merged();
  EXPECT_EQ(notes_of(result), "");
  ASSERT_EQ(test::kinds_of(result.graph), (std::vector{OpKind::Relu, OpKind::SgdUpdate}));
  const Op& op = result.graph.ops()[1];
  EXPECT_EQ(std::get<SgdAttrs>(op.attrs), (SgdAttrs{true, 2, false}));
  EXPECT_EQ(labels(result.graph, op.inputs),
            (Labels{"a", "b", "g", "%0", "control.lr", "control.step"}));
  EXPECT_EQ(labels(result.graph, op.outputs), (Labels{"a", "b", "control.step"}));
  EXPECT_EQ(op.phases, Phase::backward | PhaseSet(Phase::update));
}

TEST_F(MultiTensor, TakesScaledGradientsWithoutARate) {
  for (const ValueId w : {a_, b_, c_}) {
    graph_.apply(OpKind::SgdUpdate, {w, g_}, SgdAttrs{.scaled_gradient = true});
  }
  const Graph graph = merged().graph;
  ASSERT_EQ(graph.ops().size(), 1U);
  EXPECT_EQ(std::get<SgdAttrs>(graph.ops()[0].attrs), (SgdAttrs{false, 3, true}));
  EXPECT_EQ(labels(graph, graph.ops()[0].inputs), (Labels{"a", "b", "c", "g", "g", "g"}));
}

TEST_F(MultiTensor, GroupsTheStatesOfMomentum) {
  const ValueId va = graph_.declare(Role::state, {{4}, DType::f32}, "va");
  const ValueId vb = graph_.declare(Role::state, {{4}, DType::f32}, "vb");
  graph_.apply(OpKind::MomentumUpdate, {a_, g_, va, rate_}, MomentumAttrs{0.5});
  graph_.apply(OpKind::MomentumUpdate, {b_, h_, vb, rate_, step_}, MomentumAttrs{0.5, true});
  const Graph graph = merged().graph;
  ASSERT_EQ(graph.ops().size(), 1U);
  EXPECT_EQ(std::get<MomentumAttrs>(graph.ops()[0].attrs), (MomentumAttrs{0.5, true, 2}));
  EXPECT_EQ(labels(graph, graph.ops()[0].inputs),
            (Labels{"a", "b", "g", "h", "va", "vb", "control.lr", "control.step"}));
  EXPECT_EQ(labels(graph, graph.ops()[0].outputs), (Labels{"a", "b", "va", "vb", "control.step"}));
}

// All of Adam's updates read the count that the last one writes.
TEST_F(MultiTensor, GroupsTheStatesOfAdam) {
  const Graph graph =
      run_pass(fuse_multi_tensor,
               simplify(make_model("mlp:4-3-2", {.kind = OptimizerSpec::Kind::adam}).step(2)))
          .graph;
  ASSERT_EQ(count(graph, OpKind::AdamUpdate), 1);
  const Op& op = graph.ops().back();
  EXPECT_EQ(labels(graph, op.outputs),
            (Labels{"b2", "w2", "b1", "w1", "b2.m", "w2.m", "b1.m", "w1.m", "b2.v", "w2.v", "b1.v",
                    "w1.v", "control.step"}));
  EXPECT_EQ(op.inputs.size(), 18U);
}

// 44 operands and 24 results: 21 tensors of SGD, 11 of momentum, 7 of Adam.
TEST_F(MultiTensor, MakesSeveralWhereOneCannotTakeAll) {
  const auto sizes = [](OptimizerSpec::Kind kind, const std::string& model) {
    const Graph graph =
        run_pass(fuse_multi_tensor, simplify(make_model(model, {.kind = kind}).step(1))).graph;
    std::vector<std::int64_t> tensors;
    for (const Op& op : graph.ops()) {
      if (const auto* sgd = std::get_if<SgdAttrs>(&op.attrs)) tensors.push_back(sgd->tensors);
      if (const auto* mu = std::get_if<MomentumAttrs>(&op.attrs)) tensors.push_back(mu->tensors);
      if (const auto* adam = std::get_if<AdamAttrs>(&op.attrs)) tensors.push_back(adam->tensors);
    }
    return tensors;
  };
  const std::string six_layers = "mlp:2-2-2-2-2-2-2";
  const std::string eleven_layers = "mlp:2-2-2-2-2-2-2-2-2-2-2-2";
  EXPECT_EQ(sizes(OptimizerSpec::Kind::sgd, six_layers), (std::vector<std::int64_t>{12}));
  EXPECT_EQ(sizes(OptimizerSpec::Kind::sgd, eleven_layers), (std::vector<std::int64_t>{11, 11}));
  EXPECT_EQ(sizes(OptimizerSpec::Kind::momentum, six_layers), (std::vector<std::int64_t>{6, 6}));
  EXPECT_EQ(sizes(OptimizerSpec::Kind::adam, six_layers), (std::vector<std::int64_t>{6, 6}));
  EXPECT_EQ(sizes(OptimizerSpec::Kind::adam, eleven_layers),
            (std::vector<std::int64_t>{5, 6, 5, 6}));
}

TEST_F(MultiTensor, KindRateSettingsAndTypeTellGroupsApart) {
  const ValueId slow = graph_.declare(Role::state, {Shape{}, DType::f32}, "slow");
  const ValueId v = graph_.declare(Role::state, {{4}, DType::f32}, "v");
  const ValueId wide = parameter("wide", DType::f64);
  const ValueId wide_rate = graph_.declare(Role::state, {Shape{}, DType::f64}, "wide_rate");
  sgd(a_, g_);
  sgd(b_, g_, slow);
  sgd(wide, wide, wide_rate);
  graph_.apply(OpKind::SgdUpdate, {parameter("d"), g_}, SgdAttrs{.scaled_gradient = true});
  graph_.apply(OpKind::MomentumUpdate, {c_, g_, v, rate_}, MomentumAttrs{});
  test::expect_unchanged(fuse_multi_tensor, graph_,
                         "no two updates are of one kind, rate, element type and settings");
}

TEST_F(MultiTensor, LeavesAnUpdateWhoseResultIsReadBeforeTheLast) {
  graph_.keep(build::relu(graph_, sgd(a_, g_)), "y");
  sgd(b_, g_);
  sgd(c_, g_);
  const PassResult result = merged();
  EXPECT_EQ(notes_of(result), "the update of a stays: the new a is read before the last");
  EXPECT_EQ(test::kinds_of(result.graph),
            (std::vector{OpKind::SgdUpdate, OpKind::Relu, OpKind::SgdUpdate}));
}

TEST_F(MultiTensor, LeavesAnUpdateThatReadsWhatAnotherOverwrites) {
  sgd(a_, b_);
  sgd(b_, g_);
  test::expect_unchanged(fuse_multi_tensor, graph_,
                         "the update of a stays: b is overwritten before the last");
}

TEST_F(MultiTensor, LeavesTheFirstOfTwoUpdatesOfOneParameter) {
  sgd(sgd(a_, g_), h_);
  test::expect_unchanged(fuse_multi_tensor, graph_,
                         "the update of a stays: a is overwritten before the last");
}

TEST_F(MultiTensor, ReadersOfOldValuesStayAhead) {
  sgd(a_, g_);
  const ValueId old = build::relu(graph_, b_);
  sgd(b_, g_);
  graph_.keep(old, "old");
  const PassResult result = merged();
  EXPECT_EQ(test::kinds_of(result.graph), (std::vector{OpKind::Relu, OpKind::SgdUpdate}));
}

TEST_F(MultiTensor, KeepsNamesOfNewValues) {
  graph_.keep(sgd(a_, g_), "new_a");
  sgd(b_, g_);
  const Graph graph = merged().graph;
  EXPECT_EQ(*graph.find("new_a"), graph.ops()[0].outputs[0]);
}

}  // namespace
}  // namespace stepscope
