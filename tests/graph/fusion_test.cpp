// The passes that put two or three ops into one: what they take, and each reason to leave it.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>

#include "tests/graph/fusion_rig.h"

namespace stepscope {
namespace {

using test::count;
using test::expect_unchanged;
using test::kinds_of;
using test::notes_of;
using test::op_of;
using test::run_pass;

class FusionTest : public testing::Test {
 protected:
  ValueId input(Shape shape, std::string name) {
    return graph_.declare(Role::input, {shape, DType::f32}, std::move(name));
  }
  ValueId parameter(Shape shape, std::string name) {
    return graph_.declare(Role::parameter, {shape, DType::f32}, std::move(name));
  }
  ValueId update(ValueId w, ValueId gradient) {
    return graph_.apply1(OpKind::SgdUpdate, {w, gradient, rate_}, SgdAttrs{});
  }
  void keep(ValueId id, std::string name) { graph_.keep(id, std::move(name)); }

  Graph graph_;
  ValueId rate_ = graph_.declare(Role::state, {Shape{}, DType::f32}, "rate");
};

// ---- epilogue

class Epilogue : public FusionTest {
 protected:
  ValueId x_ = input({2, 4}, "x");
  ValueId w_ = parameter({4, 3}, "w");
  ValueId b_ = parameter({3}, "b");
};

TEST_F(Epilogue, TakesBiasAndEachActivation) {
  constexpr std::array kActivations = {std::pair{OpKind::Relu, Activation::relu},
                                       std::pair{OpKind::Tanh, Activation::tanh},
                                       std::pair{OpKind::Sigmoid, Activation::sigmoid}};
  for (const auto& [kind, activation] : kActivations) {
    Graph graph = graph_;
    const ValueId sum = build::add_bias(graph, build::matmul(graph, x_, w_), b_);
    graph.keep(graph.apply1(kind, {sum}), "y");
    const Graph fused = run_pass(fuse_epilogue, graph).graph;
    ASSERT_EQ(kinds_of(fused), std::vector{OpKind::Linear});
    EXPECT_EQ(std::get<MatMulAttrs>(fused.ops()[0].attrs).activation, activation);
    EXPECT_EQ(fused.label(fused.ops()[0].outputs[0]), "y");
  }
}

TEST_F(Epilogue, KeepsTransposes) {
  const ValueId wide = parameter({3, 2}, "wide");
  keep(build::add_bias(graph_, build::matmul(graph_, x_, wide, {true, true}), b_), "y");
  const Graph fused = run_pass(fuse_epilogue, graph_).graph;
  EXPECT_EQ(std::get<MatMulAttrs>(fused.ops()[0].attrs),
            (MatMulAttrs{true, true, Activation::none}));
}

TEST_F(Epilogue, TakesTheBiasOfAConvolution) {
  const ValueId image = input({1, 2, 5, 5}, "image");
  const ValueId kernel = parameter({3, 2, 3, 3}, "kernel");
  const Conv2dAttrs attrs{.stride_h = 2, .pad_h = 1};
  const ValueId y = graph_.apply1(OpKind::Conv2d, {image, kernel}, attrs);
  keep(build::relu(graph_, build::add_bias(graph_, y, b_)), "y");
  const Graph fused = run_pass(fuse_epilogue, graph_).graph;
  ASSERT_EQ(kinds_of(fused), std::vector{OpKind::Conv2dBias});
  EXPECT_EQ(std::get<Conv2dAttrs>(fused.ops()[0].attrs),
            (Conv2dAttrs{.stride_h = 2, .pad_h = 1, .activation = Activation::relu}));
}

TEST_F(Epilogue, UnitesPhases) {
  const ValueId product = build::matmul(graph_, x_, w_);
  graph_.enter(Phase::backward);
  keep(build::add_bias(graph_, product, b_), "y");
  const Graph fused = run_pass(fuse_epilogue, graph_).graph;
  EXPECT_EQ(fused.ops()[0].phases, Phase::forward | PhaseSet(Phase::backward));
}

TEST_F(Epilogue, LeavesAKeptProduct) {
  const ValueId product = build::matmul(graph_, x_, w_);
  keep(product, "product");
  keep(build::add_bias(graph_, product, b_), "y");
  expect_unchanged(fuse_epilogue, graph_, "AddBias y stays: product is kept");
}

TEST_F(Epilogue, LeavesAProductKeptAsAView) {
  const ValueId product = build::matmul(graph_, x_, w_);
  keep(graph_.reshape(product, {6}), "flat");
  keep(build::add_bias(graph_, product, b_), "y");
  expect_unchanged(fuse_epilogue, graph_, "AddBias y stays: %0 is kept");
}

TEST_F(Epilogue, LeavesAProductWithTwoReaders) {
  const ValueId product = build::matmul(graph_, x_, w_);
  keep(build::add_bias(graph_, product, b_), "y");
  keep(build::relu(graph_, product), "z");
  expect_unchanged(fuse_epilogue, graph_, "AddBias y stays: %0 has 2 readers");
}

TEST_F(Epilogue, TakesTheBiasAloneWhenTheSumIsKept) {
  const ValueId sum = build::add_bias(graph_, build::matmul(graph_, x_, w_), b_);
  keep(sum, "sum");
  keep(build::relu(graph_, sum), "y");
  const PassResult result = run_pass(fuse_epilogue, graph_);
  EXPECT_EQ(kinds_of(result.graph), (std::vector{OpKind::Linear, OpKind::Relu}));
  EXPECT_EQ(notes_of(result), "Relu y stays: sum is kept");
}

TEST_F(Epilogue, TakesTheBiasAloneWhenTheSumHasTwoReaders) {
  const ValueId sum = build::add_bias(graph_, build::matmul(graph_, x_, w_), b_);
  keep(build::scale(graph_, sum, 2.0), "z");
  keep(build::relu(graph_, sum), "y");
  const PassResult result = run_pass(fuse_epilogue, graph_);
  EXPECT_EQ(kinds_of(result.graph), (std::vector{OpKind::Linear, OpKind::Scale, OpKind::Relu}));
  EXPECT_EQ(notes_of(result), "Relu y stays: %1 has 2 readers");
}

TEST_F(Epilogue, StandsWhereTheOldWeightCanStillBeRead) {
  const ValueId product = build::matmul(graph_, x_, w_);
  update(w_, build::relu(graph_, w_));
  keep(build::add_bias(graph_, product, b_), "y");
  const Graph fused = run_pass(fuse_epilogue, graph_).graph;
  EXPECT_EQ(kinds_of(fused), (std::vector{OpKind::Linear, OpKind::Relu, OpKind::SgdUpdate}));
}

TEST_F(Epilogue, LeavesWhatHasNoPlace) {
  const ValueId product = build::matmul(graph_, x_, w_);
  update(w_, w_);
  const ValueId new_b = update(b_, b_);
  keep(build::add_bias(graph_, product, new_b), "y");
  expect_unchanged(fuse_epilogue, graph_,
                   "AddBias y stays: between op 0 and op 3 something is overwritten or read too "
                   "early");
}

TEST_F(Epilogue, SaysThatThereIsNothing) {
  keep(build::add_bias(graph_, build::relu(graph_, input({2, 3}, "z")), b_), "y");
  expect_unchanged(fuse_epilogue, graph_, "no product or convolution with a bias");
}

// ---- loss_grad

class LossGrad : public FusionTest {
 protected:
  LossGrad() {
    const auto out = build::softmax_cross_entropy(graph_, logits_, labels_);
    loss_ = out.loss;
    probabilities_ = out.probabilities;
    keep(loss_, "loss");
    graph_.enter(Phase::backward);
  }
  void gradient(std::vector<ValueId> inputs) {
    keep(graph_.apply1(OpKind::SoftmaxCrossEntropyGrad, std::move(inputs)), "grad");
  }

  ValueId logits_ = input({4, 3}, "logits");
  ValueId labels_ = graph_.declare(Role::input, {{4}, DType::i32}, "labels");
  ValueId loss_, probabilities_;
};

TEST_F(LossGrad, IsOneOpOfBothPhases) {
  gradient({probabilities_, labels_});
  const Graph fused = run_pass(fuse_loss_grad, graph_).graph;
  ASSERT_EQ(kinds_of(fused), std::vector{OpKind::SoftmaxCrossEntropyWithGrad});
  const Op& op = fused.ops()[0];
  EXPECT_EQ(op.inputs.size(), 2U);
  EXPECT_EQ(fused.label(op.outputs[0]), "loss");
  EXPECT_EQ(fused.label(op.outputs[1]), "grad");
  EXPECT_EQ(op.phases, Phase::forward | PhaseSet(Phase::backward));
}

TEST_F(LossGrad, StandsBeforeAReaderOfTheLoss) {
  keep(build::scale(graph_, loss_, 2.0), "twice");
  gradient({probabilities_, labels_});
  const Graph fused = run_pass(fuse_loss_grad, graph_).graph;
  EXPECT_EQ(kinds_of(fused), (std::vector{OpKind::SoftmaxCrossEntropyWithGrad, OpKind::Scale}));
}

TEST_F(LossGrad, LeavesAGradientWithAFactor) {
  gradient({probabilities_, labels_, rate_});
  expect_unchanged(fuse_loss_grad, graph_,
                   "the loss gradient grad stays: it is multiplied by rate");
}

TEST_F(LossGrad, LeavesKeptProbabilities) {
  keep(probabilities_, "p");
  gradient({probabilities_, labels_});
  expect_unchanged(fuse_loss_grad, graph_, "the loss gradient grad stays: p is kept");
}

TEST_F(LossGrad, LeavesProbabilitiesWithAnotherReader) {
  keep(build::scale(graph_, probabilities_, 2.0), "z");
  gradient({probabilities_, labels_});
  expect_unchanged(fuse_loss_grad, graph_, "the loss gradient grad stays: %1 has 2 readers");
}

TEST_F(LossGrad, LeavesAnotherLossesGradient) {
  gradient({probabilities_, graph_.declare(Role::input, {{4}, DType::i32}, "others")});
  expect_unchanged(fuse_loss_grad, graph_,
                   "the loss gradient grad stays: the loss has the labels labels, the gradient "
                   "others");
}

TEST_F(LossGrad, LeavesProbabilitiesFromElsewhere) {
  gradient({input({4, 3}, "p"), labels_});
  expect_unchanged(fuse_loss_grad, graph_,
                   "the loss gradient grad stays: p is not made by SoftmaxCrossEntropy");
}

// ---- relu_grad

class ReluGrad : public FusionTest {
 protected:
  // r {1, 2, 4, 4}, pooled by windows of 2, and the gradient behind the pool.
  struct Pool {
    ValueId relu, pooled, saved;
  };
  Pool pool(Pool2dAttrs attrs = {}) {
    const ValueId relu = build::relu(graph_, input({1, 2, 4, 4}, "z"));
    const auto out = graph_.apply(OpKind::MaxPool, {relu}, attrs);
    keep(out[0], "p");
    return {relu, out[0], out[1]};
  }
  ValueId pool_grad(ValueId saved, Pool2dAttrs attrs = {}) {
    const ValueId dy = input(attrs.pad_h == 0 ? Shape{1, 2, 2, 2} : Shape{1, 2, 3, 2}, "dy");
    return graph_.apply1(OpKind::MaxPoolGrad, {dy, saved},
                         Pool2dGradAttrs{.pad_h = attrs.pad_h, .height = 4, .width = 4});
  }
  void relu_grad(ValueId dy, ValueId y) { keep(graph_.apply1(OpKind::ReluGrad, {dy, y}), "dz"); }

  ValueId dz_ = input({2, 3}, "next");
  ValueId w_ = parameter({4, 3}, "w");
};

TEST_F(ReluGrad, GoesIntoAProduct) {
  relu_grad(build::matmul(graph_, dz_, w_, {false, true}), input({2, 4}, "y"));
  const Graph fused = run_pass(fuse_relu_grad, graph_).graph;
  ASSERT_EQ(kinds_of(fused), std::vector{OpKind::MatMulReluGrad});
  EXPECT_EQ(std::get<MatMulAttrs>(fused.ops()[0].attrs), (MatMulAttrs{false, true}));
  EXPECT_EQ(fused.label(fused.ops()[0].inputs[2]), "y");
}

TEST_F(ReluGrad, GoesIntoAConvolution) {
  const ValueId dy = input({1, 3, 3, 3}, "dy");
  const ValueId kernel = parameter({3, 2, 2, 2}, "kernel");
  const Conv2dGradAttrs attrs{.height = 4, .width = 4};
  relu_grad(graph_.apply1(OpKind::Conv2dInputGrad, {dy, kernel}, attrs), input({1, 2, 4, 4}, "y"));
  const Graph fused = run_pass(fuse_relu_grad, graph_).graph;
  ASSERT_EQ(kinds_of(fused), std::vector{OpKind::Conv2dInputReluGrad});
  EXPECT_EQ(std::get<Conv2dGradAttrs>(fused.ops()[0].attrs), attrs);
}

TEST_F(ReluGrad, BehindAPoolReadsThePooledValue) {
  const Pool pool = this->pool();
  relu_grad(pool_grad(pool.saved), pool.relu);
  const Graph fused = run_pass(fuse_relu_grad, graph_).graph;
  ASSERT_EQ(kinds_of(fused), (std::vector{OpKind::Relu, OpKind::MaxPool, OpKind::MaxPoolReluGrad}));
  EXPECT_EQ(fused.label(fused.ops()[2].inputs[2]), "p");
}

TEST_F(ReluGrad, LeavesAPaddedPool) {
  const Pool pool = this->pool({.pad_h = 1});
  relu_grad(pool_grad(pool.saved, {.pad_h = 1}), pool.relu);
  expect_unchanged(fuse_relu_grad, graph_, "ReluGrad dz stays: the pool is padded by 1x0");
}

TEST_F(ReluGrad, LeavesAPoolOfAnotherValue) {
  const Pool pool = this->pool();
  relu_grad(pool_grad(pool.saved), input({1, 2, 4, 4}, "y"));
  expect_unchanged(fuse_relu_grad, graph_, "ReluGrad dz stays: the pool took %0, not y");
}

TEST_F(ReluGrad, LeavesAPoolThatItCannotSee) {
  const ValueId saved = graph_.declare(Role::input, {{1, 2, 2, 2}, DType::u8}, "winners");
  relu_grad(pool_grad(saved), input({1, 2, 4, 4}, "y"));
  expect_unchanged(fuse_relu_grad, graph_,
                   "ReluGrad dz stays: no MaxPool made winners, so there is no pooled value");
}

TEST_F(ReluGrad, LeavesAKeptGradient) {
  const ValueId dx = build::matmul(graph_, dz_, w_, {false, true});
  keep(dx, "dx");
  relu_grad(dx, input({2, 4}, "y"));
  expect_unchanged(fuse_relu_grad, graph_, "ReluGrad dz stays: dx is kept");
}

TEST_F(ReluGrad, LeavesAGradientWithTwoReaders) {
  const ValueId dx = build::matmul(graph_, dz_, w_, {false, true});
  relu_grad(dx, input({2, 4}, "y"));
  keep(build::tanh(graph_, dx), "z");
  expect_unchanged(fuse_relu_grad, graph_, "ReluGrad dz stays: %0 has 2 readers");
}

TEST_F(ReluGrad, LeavesOtherOpsAndViews) {
  const ValueId y = input({2, 3}, "y");
  const ValueId sum = build::add(graph_, dz_, dz_);
  keep(graph_.apply1(OpKind::ReluGrad, {sum, y}), "a");
  const ValueId product = build::matmul(graph_, dz_, w_, {false, true});
  keep(graph_.apply1(OpKind::ReluGrad, {graph_.reshape(product, {4, 2}), input({4, 2}, "tall")}),
       "b");
  expect_unchanged(fuse_relu_grad, graph_,
                   "ReluGrad a stays: Add takes no gate\n"
                   "ReluGrad b stays: no op makes %2{4, 2} itself");
}

TEST_F(ReluGrad, SaysThatThereIsNothing) {
  keep(build::relu(graph_, dz_), "y");
  expect_unchanged(fuse_relu_grad, graph_, "no gradient of relu");
}

// ---- bias_grad

class BiasGrad : public FusionTest {
 protected:
  ValueId x_ = input({2, 4}, "x");
  ValueId dz_ = input({2, 3}, "dz");
};

TEST_F(BiasGrad, GoesWithTheProductInEitherOrder) {
  for (const bool sums_first : {true, false}) {
    Graph graph = graph_;
    ValueId sums, product;
    if (sums_first) sums = build::reduce_sum(graph, dz_, 0);
    product = build::matmul(graph, x_, dz_, {true, false});
    if (!sums_first) sums = build::reduce_sum(graph, dz_, 0);
    graph.keep(sums, "db");
    graph.keep(product, "dw");
    const Graph fused = run_pass(fuse_bias_grad, graph).graph;
    ASSERT_EQ(kinds_of(fused), std::vector{OpKind::MatMulBiasGrad});
    EXPECT_EQ(fused.label(fused.ops()[0].outputs[0]), "dw");
    EXPECT_EQ(fused.label(fused.ops()[0].outputs[1]), "db");
  }
}

TEST_F(BiasGrad, GoesWithTheConvolution) {
  const ValueId image = input({1, 2, 4, 4}, "image");
  const ValueId dy = input({1, 3, 3, 3}, "dy");
  keep(graph_.apply1(OpKind::BiasGrad, {dy}), "db");
  const Conv2dGradAttrs attrs{.height = 2, .width = 2};
  keep(graph_.apply1(OpKind::Conv2dWeightGrad, {image, dy}, attrs), "dw");
  const Graph fused = run_pass(fuse_bias_grad, graph_).graph;
  ASSERT_EQ(kinds_of(fused), std::vector{OpKind::Conv2dWeightBiasGrad});
  EXPECT_EQ(std::get<Conv2dGradAttrs>(fused.ops()[0].attrs), attrs);
}

TEST_F(BiasGrad, LeavesSumsWithoutAWeightGradient) {
  keep(build::reduce_sum(graph_, dz_, 0), "db");
  keep(build::matmul(graph_, dz_, x_, {true, false}), "of_a_transposed_weight");
  keep(build::matmul(graph_, parameter({2, 2}, "w"), dz_), "forward");
  expect_unchanged(
      fuse_bias_grad, graph_,
      "ReduceSum db stays: no weight gradient reads dz as MatMul(x transposed, dz) does");
}

TEST_F(BiasGrad, LeavesOtherSums) {
  keep(build::reduce_sum(graph_, dz_, 1), "rows");
  keep(build::matmul(graph_, x_, dz_, {true, false}), "dw");
  expect_unchanged(fuse_bias_grad, graph_, "no gradient of a bias");
}

TEST_F(BiasGrad, OneProductTakesOneSum) {
  keep(build::reduce_sum(graph_, dz_, 0), "a");
  keep(build::reduce_sum(graph_, dz_, 0), "b");
  keep(build::matmul(graph_, x_, dz_, {true, false}), "dw");
  const PassResult result = run_pass(fuse_bias_grad, graph_);
  EXPECT_EQ(count(result.graph, OpKind::ReduceSum), 1);
  EXPECT_EQ(notes_of(result),
            "ReduceSum b stays: no weight gradient reads dz as MatMul(x transposed, dz) does");
}

TEST_F(BiasGrad, LeavesSumsThatAreReadBeforeTheProductCanBeMade) {
  const ValueId sums = build::reduce_sum(graph_, dz_, 0);
  keep(build::relu(graph_, sums), "early");
  const ValueId late = build::relu(graph_, x_);
  keep(build::matmul(graph_, late, dz_, {true, false}), "dw");
  expect_unchanged(fuse_bias_grad, graph_,
                   "ReduceSum %0 stays: between op 0 and op 3 something is overwritten or read too "
                   "early");
}

}  // namespace
}  // namespace stepscope
