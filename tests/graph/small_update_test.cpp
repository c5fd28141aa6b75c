// A small weight that is updated with the rest: what goes together, in which order, and what stays
// apart.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/models/model.h"
#include "tests/graph/fusion_rig.h"

namespace stepscope {
namespace {

using test::count;
using test::kinds_of;
using test::notes_of;

using Labels = std::vector<std::string>;

// W {3, 2} -= a {4, 3} transposed times b {4, 2}, with the sums of b for the bias c {2}.
class SmallUpdateOf : public testing::Test {
 protected:
  ValueId declare(Role role, const Shape& shape, std::string name, DType dtype = DType::f32) {
    return graph_.declare(role, {shape, dtype}, std::move(name));
  }
  std::vector<ValueId> product(ValueId w, bool sums = true) {
    graph_.enter(Phase::backward);
    return graph_.apply(OpKind::MatMulUpdate, {w, a_, b_}, ProductUpdateAttrs{true, false, sums});
  }
  std::vector<ValueId> update(std::vector<ValueId> inputs, std::int64_t tensors,
                              bool advance = false) {
    graph_.enter(Phase::update);
    if (advance) inputs.push_back(step_);
    return graph_.apply(OpKind::SgdUpdate, std::move(inputs), SgdAttrs{advance, tensors, true});
  }
  PassResult merged(std::int64_t most = 6) {
    verify(graph_, "test");
    PassResult result = small_update_pass({.small_product = most}).run(graph_);
    verify(result.graph, "pass");
    return result;
  }
  void expect_unchanged(const std::string& why, std::int64_t most = 6) {
    const PassResult result = merged(most);
    EXPECT_EQ(to_text(result.graph), to_text(graph_));
    EXPECT_EQ(notes_of(result), why);
  }
  Labels labels(const Graph& graph, const std::vector<ValueId>& ids) {
    Labels all;
    for (const ValueId id : ids) all.push_back(graph.label(graph.storage(id)));
    return all;
  }

  Graph graph_;
  ValueId step_ = declare(Role::state, {}, "step", DType::i32);
  ValueId a_ = declare(Role::input, {4, 3}, "a"), b_ = declare(Role::input, {4, 2}, "b");
  ValueId w_ = declare(Role::parameter, {3, 2}, "w"), v_ = declare(Role::parameter, {3, 2}, "v");
  ValueId c_ = declare(Role::parameter, {2}, "c"), d_ = declare(Role::parameter, {5}, "d");
  ValueId g_ = declare(Role::input, {5}, "g"), h_ = declare(Role::input, {2}, "h");
};

TEST_F(SmallUpdateOf, StandsWhereTheUpdateWasWithTheBiasFirst) {
  const auto made = product(w_);
  const ValueId late = build::relu(graph_, g_);
  update({d_, c_, late, made[1]}, 2, true);
  const PassResult result = merged();
  EXPECT_EQ(notes_of(result), "");
  ASSERT_EQ(kinds_of(result.graph), (std::vector{OpKind::Relu, OpKind::MatMulSgdUpdate}));
  const Op& op = result.graph.ops()[1];
  EXPECT_EQ(std::get<SmallUpdateAttrs>(op.attrs), (SmallUpdateAttrs{true, false, true, 2, true}));
  EXPECT_EQ(labels(result.graph, op.inputs), (Labels{"w", "a", "b", "c", "d", "%0", "step"}));
  EXPECT_EQ(labels(result.graph, op.outputs), (Labels{"w", "c", "d", "step"}));
  EXPECT_EQ(op.phases, Phase::backward | PhaseSet(Phase::update));
}

TEST_F(SmallUpdateOf, TakesTheNextUpdateWhereItHasNoSums) {
  product(w_, false);
  update({d_, g_}, 1);
  update({c_, h_}, 1, true);
  const Graph graph = merged().graph;
  ASSERT_EQ(kinds_of(graph), (std::vector{OpKind::MatMulSgdUpdate, OpKind::SgdUpdate}));
  EXPECT_EQ(std::get<SmallUpdateAttrs>(graph.ops()[0].attrs),
            (SmallUpdateAttrs{true, false, false, 1, false}));
  EXPECT_EQ(labels(graph, graph.ops()[0].inputs), (Labels{"w", "a", "b", "d", "g"}));
}

TEST_F(SmallUpdateOf, TakesOneProductTheSmallest) {
  const ValueId wide = declare(Role::parameter, {4, 3}, "wide");
  const ValueId x = declare(Role::input, {1, 4}, "x"), y = declare(Role::input, {1, 3}, "y");
  graph_.apply(OpKind::MatMulUpdate, {wide, x, y}, ProductUpdateAttrs{true, false, false});
  product(w_, false);
  product(v_, false);
  update({d_, g_}, 1);
  const PassResult result = merged(12);
  EXPECT_EQ(kinds_of(result.graph),
            (std::vector{OpKind::MatMulUpdate, OpKind::MatMulUpdate, OpKind::MatMulSgdUpdate}));
  EXPECT_EQ(result.graph.label(result.graph.ops()[2].inputs[0]), "w");
  EXPECT_EQ(notes_of(result),
            "v keeps its product: the update behind it has a product already\n"
            "wide keeps its product: the update behind it has a product already");
}

TEST_F(SmallUpdateOf, LeavesWhatIsNotSmall) {
  const auto made = product(w_);
  update({c_, made[1]}, 1);
  expect_unchanged("w keeps its product: it has 6 elements, the backend wishes for 5 at most", 5);
}

TEST_F(SmallUpdateOf, LeavesAProductBehindTheUpdates) {
  update({d_, g_}, 1);
  product(w_, false);
  expect_unchanged("w keeps its product: no update without a rate is behind it");
}

TEST_F(SmallUpdateOf, LeavesAnUpdateWithARate) {
  const ValueId rate = declare(Role::state, {}, "rate");
  product(w_, false);
  graph_.apply(OpKind::SgdUpdate, {d_, g_, rate}, SgdAttrs{});
  expect_unchanged("w keeps its product: no update without a rate is behind it");
}

TEST_F(SmallUpdateOf, LeavesSumsThatSomebodyElseReads) {
  const auto made = product(w_);
  graph_.keep(build::relu(graph_, made[1]), "seen");
  update({c_, made[1]}, 1);
  expect_unchanged(
      "w keeps its product: its column sums %1 do not go to one update without a rate alone");
}

TEST_F(SmallUpdateOf, LeavesSumsThatAreKept) {
  const auto made = product(w_);
  graph_.keep(made[1], "sums");
  update({c_, made[1]}, 1);
  expect_unchanged("w keeps its product: sums is kept");
}

TEST_F(SmallUpdateOf, LeavesSumsInAnotherShape) {
  const ValueId row = declare(Role::parameter, {1, 2}, "row");
  const auto made = product(w_);
  update({row, graph_.reshape(made[1], {1, 2})}, 1);
  expect_unchanged("w keeps its product: its column sums %1 are read in another shape");
}

// Two layers share a weight, say: the second reads what the first update made.
TEST_F(SmallUpdateOf, LeavesAWeightThatIsReadBeforeTheUpdate) {
  const ValueId now = product(w_, false)[0];
  graph_.keep(build::relu(graph_, now), "seen");
  update({d_, g_}, 1);
  expect_unchanged("w keeps its product: it is read before the update behind it is done");
}

TEST_F(SmallUpdateOf, LeavesAWeightThatIsUpdatedTwice) {
  product(product(w_, false)[0], false);
  update({d_, g_}, 1);
  const PassResult result = merged();
  EXPECT_EQ(kinds_of(result.graph), (std::vector{OpKind::MatMulUpdate, OpKind::MatMulSgdUpdate}));
  EXPECT_EQ(notes_of(result),
            "w keeps its product: w is overwritten before the update behind it is done");
}

// The product reads the old d through a view; the update would write it meanwhile.
TEST_F(SmallUpdateOf, LeavesAProductOfWhatTheUpdateOverwrites) {
  const ValueId table = declare(Role::parameter, {4, 3}, "table");
  const ValueId gradient = declare(Role::input, {4, 3}, "dtable");
  graph_.apply(OpKind::MatMulUpdate, {w_, table, b_}, ProductUpdateAttrs{true, false, false});
  update({table, gradient}, 1);
  expect_unchanged("w keeps its product: table is overwritten before the update behind it is done");
}

TEST_F(SmallUpdateOf, LeavesAProductWhoseOperandAnotherUpdateOverwrites) {
  const ValueId table = declare(Role::parameter, {4, 3}, "table");
  const ValueId gradient = declare(Role::input, {4, 3}, "dtable");
  const ValueId rate = declare(Role::state, {}, "rate");
  graph_.apply(OpKind::MatMulUpdate, {w_, table, b_}, ProductUpdateAttrs{true, false, false});
  graph_.apply(OpKind::SgdUpdate, {table, gradient, rate}, SgdAttrs{});
  update({d_, g_}, 1);
  expect_unchanged("w keeps its product: table is overwritten before the update behind it is done");
}

// 44 operands at most: 20 parameters with gradients.
TEST_F(SmallUpdateOf, LeavesAnUpdateOfTooMany) {
  for (const int tensors : {20, 21}) {
    graph_ = Graph();
    step_ = declare(Role::state, {}, "step", DType::i32);
    a_ = declare(Role::input, {4, 3}, "a");
    b_ = declare(Role::input, {4, 2}, "b");
    product(declare(Role::parameter, {3, 2}, "w"), false);
    std::vector<ValueId> inputs;
    for (int t = 0; t < tensors; ++t) {
      inputs.push_back(declare(Role::parameter, {1}, fmt::format("p{}", t)));
    }
    for (int t = 0; t < tensors; ++t) {
      inputs.push_back(declare(Role::input, {1}, fmt::format("g{}", t)));
    }
    update(inputs, tensors, true);
    const PassResult result = merged();
    EXPECT_EQ(count(result.graph, OpKind::MatMulSgdUpdate), tensors == 20 ? 1 : 0);
    EXPECT_EQ(notes_of(result),
              tensors == 20 ? ""
                            : "w keeps its product: with the update behind it that would be 46 "
                              "operands, 44 at most are");
  }
}

TEST_F(SmallUpdateOf, SaysThatThereIsNone) {
  update({d_, g_}, 1);
  expect_unchanged("no product updates a weight");
}

TEST(SmallUpdate, KeepsNamesOfNewValues) {
  Graph graph =
      run_passes(make_model("mlp:4-3-2").step(2), passes_for(parse_fusion("on"), {})).graph;
  graph.keep(test::op_of(graph, OpKind::MatMulUpdate).outputs[0], "new_w2");
  const Graph made = small_update_pass({.small_product = 6}).run(graph).graph;
  const Op& op = test::op_of(made, OpKind::MatMulSgdUpdate);
  EXPECT_EQ(*made.find("new_w2"), op.outputs[0]);
}

// Of the fused step of a dense net: six ops, of which each is one kernel where a library has them.
TEST(WishedPasses, LeaveSixOpsOfAnMlp) {
  const Graph graph =
      run_passes(make_model("mlp:784-128-10").step(128),
                 passes_for(parse_fusion("on"), {.relu_mask = true, .small_product = 4096}))
          .graph;
  EXPECT_EQ(
      kinds_of(graph),
      (std::vector{OpKind::LinearReluMask, OpKind::Linear, OpKind::SoftmaxCrossEntropyWithGrad,
                   OpKind::MatMulMaskGrad, OpKind::MatMulUpdate, OpKind::MatMulSgdUpdate}));
}

}  // namespace
}  // namespace stepscope
