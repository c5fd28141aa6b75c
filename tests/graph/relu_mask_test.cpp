// Masks between relu and its gradient in products: which pairs, and what stays.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ops/models/model.h"
#include "tests/graph/fusion_rig.h"

namespace stepscope {
namespace {

using test::count;
using test::kinds_of;
using test::notes_of;

class ReluMask : public testing::Test {
 protected:
  ValueId declare(const Shape& shape, std::string name) {
    return graph_.declare(Role::parameter, {shape, DType::f32}, std::move(name));
  }
  ValueId linear(Activation activation) {
    graph_.enter(Phase::forward);
    return graph_.apply1(OpKind::Linear, {x_, w_, b_}, MatMulAttrs{.activation = activation});
  }
  ValueId gradient(ValueId y) {
    graph_.enter(Phase::backward);
    return graph_.apply1(OpKind::MatMulReluGrad, {dz_, v_, y}, MatMulAttrs{false, true});
  }
  PassResult masked() {
    verify(graph_, "test");
    PassResult result = relu_mask_pass({.relu_mask = true}).run(graph_);
    verify(result.graph, "pass");
    return result;
  }
  void expect_unchanged(const std::string& why) {
    const PassResult result = masked();
    EXPECT_EQ(to_text(result.graph), to_text(graph_));
    EXPECT_EQ(notes_of(result), why);
  }

  Graph graph_;
  ValueId x_ = declare({4, 3}, "x"), w_ = declare({3, 5}, "w"), b_ = declare({5}, "b");
  ValueId dz_ = declare({4, 2}, "dz"), v_ = declare({5, 2}, "v");
};

TEST_F(ReluMask, GradientsReadWhatTheProductSaved) {
  const ValueId y = linear(Activation::relu);
  graph_.keep(y, "y");
  graph_.keep(gradient(y), "dx");
  graph_.keep(gradient(y), "dx2");
  const PassResult result = masked();
  EXPECT_EQ(notes_of(result), "");
  ASSERT_EQ(kinds_of(result.graph),
            (std::vector{OpKind::LinearReluMask, OpKind::MatMulMaskGrad, OpKind::MatMulMaskGrad}));
  const Op& linear_op = result.graph.ops()[0];
  EXPECT_EQ(*result.graph.find("y"), linear_op.outputs[0]);
  EXPECT_EQ(result.graph.value(linear_op.outputs[1]).role, Role::saved);
  EXPECT_EQ(linear_op.phases, PhaseSet(Phase::forward));
  for (const int i : {1, 2}) {
    const Op& grad = result.graph.ops()[static_cast<std::size_t>(i)];
    EXPECT_EQ(grad.inputs[2], linear_op.outputs[1]);
    EXPECT_EQ(std::get<MatMulAttrs>(grad.attrs), (MatMulAttrs{false, true}));
    EXPECT_EQ(grad.phases, PhaseSet(Phase::backward));
  }
}

TEST_F(ReluMask, LeavesOtherActivations) {
  graph_.keep(gradient(linear(Activation::none)), "dx");
  expect_unchanged("MatMulReluGrad dx stays: no Linear with relu makes %0");
}

TEST_F(ReluMask, LeavesAnOutputInAnotherShape) {
  graph_.enter(Phase::forward);
  const ValueId tall = graph_.apply1(
      OpKind::Linear, {declare({2, 3}, "xx"), declare({3, 10}, "ww"), declare({10}, "bb")},
      MatMulAttrs{.activation = Activation::relu});
  graph_.keep(gradient(graph_.reshape(tall, {4, 5})), "dx");
  expect_unchanged("MatMulReluGrad dx stays: no Linear with relu makes %0{4, 5}");
}

TEST_F(ReluMask, LeavesAGateThatNoOpMakes) {
  graph_.keep(gradient(declare({4, 5}, "gate")), "dx");
  expect_unchanged("MatMulReluGrad dx stays: no Linear with relu makes gate");
}

TEST_F(ReluMask, SaysThatThereIsNone) {
  graph_.keep(linear(Activation::relu), "y");
  expect_unchanged("no gradient of relu in a product");
}

// Every hidden layer of a deeper net; the first needs no gradient of its input.
TEST(ReluMasks, OfADeepNet) {
  const Graph graph = run_passes(make_model("mlp:6-5-4-3").step(2),
                                 passes_for(parse_fusion("on"), {.relu_mask = true}))
                          .graph;
  EXPECT_EQ(count(graph, OpKind::LinearReluMask), 2);
  EXPECT_EQ(count(graph, OpKind::MatMulMaskGrad), 2);
  EXPECT_EQ(count(graph, OpKind::MatMulReluGrad), 0);
}

}  // namespace
}  // namespace stepscope
