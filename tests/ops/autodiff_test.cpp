// Reverse mode: which ops it appends. Whether they compute gradients is checked with numbers by the
// conformance tests.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ops/autodiff/backward.h"
#include "ops/ir/build.h"
#include "ops/ir/op_def.h"
#include "ops/ir/print.h"
#include "ops/ir/verify.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

class Autodiff : public testing::Test {
 protected:
  // A loss of any value: its sum.
  ValueId sum(ValueId id) {
    while (graph_.type(id).shape.rank() > 0) id = build::reduce_sum(graph_, id, 0);
    return id;
  }
  ValueId gradient(ValueId loss, ValueId wrt) { return gradients(loss, {wrt})[0]; }
  std::vector<ValueId> gradients(ValueId loss, std::vector<ValueId> wrt) {
    forward_ops_ = graph_.ops().size();
    graph_.enter(Phase::backward);
    const std::vector<ValueId> result = add_backward(graph_, loss, wrt);
    graph_.enter(Phase::forward);
    verify(graph_, "autodiff");
    for (std::size_t i = 0; i < wrt.size(); ++i)
      EXPECT_EQ(graph_.type(result[i]), graph_.type(wrt[i]));
    return result;
  }
  // The ops that were appended, behind the seed of one.
  std::vector<std::string> appended() const {
    std::vector<std::string> kinds;
    for (std::size_t i = forward_ops_; i < graph_.ops().size(); ++i) {
      EXPECT_EQ(graph_.ops()[i].phases, PhaseSet(Phase::backward));
      kinds.emplace_back(name(graph_.ops()[i].kind));
    }
    return kinds;
  }
  const Op& maker(ValueId id) const {
    return graph_.ops()[static_cast<std::size_t>(graph_.value(id).producer)];
  }
  std::string error(ValueId loss, ValueId wrt) {
    return error_of([&] { (void)add_backward(graph_, loss, std::array{wrt}); });
  }

  using Kinds = std::vector<std::string>;
  const TensorType type_{{2, 3}, DType::f32};
  Graph graph_;
  ValueId x_ = graph_.declare(Role::input, type_, "x");
  ValueId w_ = graph_.declare(Role::parameter, type_, "w");
  std::size_t forward_ops_ = 0;
};

TEST_F(Autodiff, SeedsWithOneAndWalksBack) {
  const ValueId loss = sum(build::relu(graph_, w_));
  const std::string before = to_text(graph_);
  const ValueId dw = gradient(loss, w_);
  EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "Broadcast", "ReluGrad"}));
  EXPECT_EQ(graph_.ops()[forward_ops_].attrs, Attrs(FillAttrs{{Shape{}, DType::f32}, 1.0}));
  EXPECT_EQ(maker(dw).inputs[1], graph_.ops()[0].outputs[0]) << "ReluGrad takes dy and y";
  EXPECT_EQ(to_text(graph_).substr(0, before.size()), before) << "the forward part is as it was";
}

TEST_F(Autodiff, TheSeedHasTheTypeOfTheLoss) {
  const ValueId v = graph_.declare(Role::parameter, {{4}, DType::f64}, "v");
  const ValueId dv = gradient(sum(build::relu(graph_, v)), v);
  EXPECT_EQ(graph_.type(dv).dtype, DType::f64);
}

TEST_F(Autodiff, ALossMayBeAParameter) {
  const ValueId scalar = graph_.declare(Role::parameter, {Shape{}, DType::f32}, "scalar");
  (void)gradient(scalar, scalar);
  EXPECT_EQ(appended(), Kinds{"Fill"});
}

TEST_F(Autodiff, OnlyWhatIsAskedFor) {
  const ValueId y = build::tanh(graph_, x_);
  const ValueId dw = gradient(sum(build::mul(graph_, y, w_)), w_);
  EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "Broadcast", "Mul"})) << "no gradient of x";
  EXPECT_EQ(maker(dw).inputs[1], y) << "of a product, the other factor";
}

// Rules may answer for inputs that nobody asked for; those are not added up.
TEST_F(Autodiff, NothingIsAddedUpForOthers) {
  const ValueId a = build::add(graph_, w_, x_);
  const ValueId b = build::add(graph_, build::relu(graph_, w_), x_);
  (void)gradient(sum(build::mul(graph_, a, b)), w_);
  const Kinds kinds = appended();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "Add"), 1) << "of w, not of x";
}

TEST_F(Autodiff, BesideTheWayNothingHappens) {
  const ValueId y = build::relu(graph_, w_);
  (void)build::tanh(graph_, y);  // does not reach the loss
  (void)gradient(sum(y), w_);
  EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "Broadcast", "ReluGrad"}));
}

// ---- Fan-out.

TEST_F(Autodiff, GradientsThatMeetAreAddedLastReaderFirst) {
  const ValueId a = build::relu(graph_, w_);     // first reader
  const ValueId b = build::tanh(graph_, w_);     // second
  const ValueId c = build::sigmoid(graph_, w_);  // third
  const ValueId dw = gradient(sum(build::add(graph_, build::add(graph_, a, b), c)), w_);
  EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "Broadcast", "SigmoidGrad", "TanhGrad", "Add",
                               "ReluGrad", "Add"}));
  EXPECT_EQ(maker(maker(dw).inputs[1]).kind, OpKind::ReluGrad) << "the first reader comes last";
}

TEST_F(Autodiff, BothInputsOfOneOp) {
  const ValueId dw = gradient(sum(build::mul(graph_, w_, w_)), w_);
  EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "Broadcast", "Mul", "Mul", "Add"}));
  EXPECT_EQ(maker(dw).kind, OpKind::Add);
}

TEST_F(Autodiff, ADifferenceNegatesItsSecond) {
  const auto d = gradients(sum(build::sub(graph_, x_, w_)), {x_, w_});
  EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "Broadcast", "Scale"}));
  EXPECT_EQ(maker(d[0]).kind, OpKind::Broadcast) << "passes through";
  EXPECT_EQ(maker(d[1]).attrs, Attrs(ScaleAttrs{-1.0}));
}

// ---- Views.

TEST_F(Autodiff, AViewOfAParameter) {
  const ValueId dw = gradient(sum(build::relu(graph_, graph_.reshape(w_, {6}))), w_);
  EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "ReluGrad"}));
  EXPECT_EQ(graph_.value(dw).sharing, Sharing::view) << "the gradient under the parameter's shape";
}

TEST_F(Autodiff, AViewOfAViewOfAComputedValue) {
  const ValueId y = build::relu(graph_, w_);
  const ValueId view = graph_.reshape(graph_.reshape(y, {6}), {3, 2});
  (void)gradient(sum(build::tanh(graph_, view)), w_);
  EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "Broadcast", "TanhGrad", "ReluGrad"}));
}

TEST_F(Autodiff, AValueAndItsViewAreOne) {
  const ValueId y = build::relu(graph_, w_);
  const ValueId a = sum(build::tanh(graph_, y));
  const ValueId b = sum(build::sigmoid(graph_, graph_.reshape(y, {6})));
  (void)gradient(build::add(graph_, a, b), w_);
  EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "SigmoidGrad", "Broadcast", "Broadcast",
                               "TanhGrad", "Add", "ReluGrad"}));
}

TEST_F(Autodiff, WithRespectToAView) {
  const ValueId view = graph_.reshape(w_, {6});
  const ValueId loss = sum(build::relu(graph_, view));
  EXPECT_EQ(graph_.type(gradient(loss, view)).shape, (Shape{6}));
}

// ---- Products.

struct Product {
  bool ta, tb;
  MatMulAttrs da, db;
  bool da_swapped, db_swapped;  // the other operand comes first, and the gradient of C second
};

// C = op(A) op(B): dA = dC op(B)^T, or its transpose op(B) dC^T where A is stored transposed;
// dB = op(A)^T dC, or its transpose dC^T op(A).
TEST_F(Autodiff, ProductsInAllFourTranspositions) {
  const std::array products = {Product{false, false, {false, true}, {true, false}, false, true},
                               Product{true, false, {false, true}, {false, false}, true, true},
                               Product{false, true, {false, false}, {true, false}, false, false},
                               Product{true, true, {true, true}, {true, true}, true, false}};
  for (const Product& product : products) {
    SCOPED_TRACE(fmt::format("transpose_a {}, transpose_b {}", product.ta, product.tb));
    graph_ = Graph();
    const Shape a_shape = product.ta ? Shape{3, 2} : Shape{2, 3};
    const Shape b_shape = product.tb ? Shape{5, 3} : Shape{3, 5};
    const ValueId a = graph_.declare(Role::parameter, {a_shape, DType::f32}, "a");
    const ValueId b = graph_.declare(Role::parameter, {b_shape, DType::f32}, "b");
    const ValueId c = build::matmul(graph_, a, b, {product.ta, product.tb});
    const auto d = gradients(sum(c), {a, b});  // checks the types
    EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "Broadcast", "MatMul", "MatMul"}));
    EXPECT_LT(graph_.value(d[0]).producer, graph_.value(d[1]).producer)
        << "a before b: b may be a weight that is updated right behind";
    EXPECT_EQ(maker(d[0]).attrs, Attrs(product.da));
    EXPECT_EQ(maker(d[1]).attrs, Attrs(product.db));
    EXPECT_EQ(maker(d[0]).inputs[product.da_swapped ? 0 : 1], b);
    EXPECT_EQ(maker(d[1]).inputs[product.db_swapped ? 0 : 1], a);
  }
}

TEST_F(Autodiff, OneSideOfAProduct) {
  const ValueId b = graph_.declare(Role::parameter, {{3, 5}, DType::f32}, "b");
  (void)gradient(sum(build::matmul(graph_, x_, b)), b);
  EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "Broadcast", "MatMul"}));
}

// ---- Other rules.

TEST_F(Autodiff, BiasesOfRowsAndOfImages) {
  const ValueId b = graph_.declare(Role::parameter, {{3}, DType::f32}, "b");
  (void)gradient(sum(build::add_bias(graph_, x_, b)), b);
  EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "Broadcast", "ReduceSum"}));

  graph_ = Graph();
  const ValueId images = graph_.declare(Role::input, {{2, 3, 4, 5}, DType::f32}, "images");
  const ValueId c = graph_.declare(Role::parameter, {{3}, DType::f32}, "c");
  (void)gradient(sum(build::add_bias(graph_, images, c)), c);
  EXPECT_EQ(appended(),
            (Kinds{"Fill", "Broadcast", "Broadcast", "Broadcast", "Broadcast", "BiasGrad"}));
}

TEST_F(Autodiff, ReduceAndBroadcastAreEachOthersGradient) {
  const ValueId wide = build::broadcast(graph_, w_, 1, 7);  // {2, 7, 3}
  const ValueId narrow = build::reduce_sum(graph_, wide, 2);
  const ValueId dw = gradient(sum(narrow), w_);
  EXPECT_EQ(maker(dw).kind, OpKind::ReduceSum);
  EXPECT_EQ(maker(dw).attrs, Attrs(ReduceAttrs{1}));
  EXPECT_EQ(maker(maker(dw).inputs[0]).attrs, Attrs(BroadcastAttrs{2, 3}));
}

TEST_F(Autodiff, ScaleKeepsItsFactor) {
  const ValueId dw = gradient(sum(build::scale(graph_, w_, 0.25)), w_);
  EXPECT_EQ(maker(dw).attrs, Attrs(ScaleAttrs{0.25}));
}

TEST_F(Autodiff, TheLossOfAClassifier) {
  const ValueId labels = graph_.declare(Role::input, {{2}, DType::i32}, "labels");
  const auto [loss, p] = build::softmax_cross_entropy(graph_, w_, labels);
  const ValueId dw = gradient(loss, w_);
  EXPECT_EQ(appended(), (Kinds{"Fill", "SoftmaxCrossEntropyGrad"}));
  EXPECT_EQ(maker(dw).inputs[0], p);
  EXPECT_EQ(maker(dw).inputs[1], labels);
  EXPECT_EQ(maker(dw).inputs[2], graph_.ops()[forward_ops_].outputs[0]);
}

// ---- Refusals.

TEST_F(Autodiff, RefusesWhatIsNoLoss) {
  EXPECT_EQ(error(build::relu(graph_, w_), w_),
            "bad graph: autodiff: the loss must be a floating scalar, %0 is f32{2, 3}");
  const ValueId labels = graph_.declare(Role::input, {{2}, DType::i32}, "labels");
  const ValueId correct = build::correct_count(graph_, w_, labels);
  graph_.keep(correct, "correct");
  EXPECT_EQ(error(correct, w_),
            "bad graph: autodiff: the loss must be a floating scalar, correct is i32{}");
}

TEST_F(Autodiff, RefusesWhatTheLossDoesNotDependOn) {
  const ValueId loss = sum(build::relu(graph_, x_));
  graph_.keep(loss, "loss");
  EXPECT_EQ(error(loss, w_), "bad graph: autodiff: the loss loss does not depend on w");
}

TEST_F(Autodiff, RefusesOpsWithoutARule) {
  const ValueId loss = sum(graph_.apply1(OpKind::ReluGrad, {w_, x_}));
  EXPECT_EQ(error(loss, w_), "unsupported: autodiff: ReluGrad has no gradient rule");
}

TEST_F(Autodiff, AnOpWithoutARuleBesideTheWayDoesNoHarm) {
  const ValueId masked = graph_.apply1(OpKind::ReluGrad, {x_, x_});
  (void)gradient(sum(build::mul(graph_, masked, w_)), w_);
  EXPECT_EQ(appended(), (Kinds{"Fill", "Broadcast", "Broadcast", "Mul"}));
}

TEST_F(Autodiff, RefusesTheWayThroughProbabilities) {
  const ValueId labels = graph_.declare(Role::input, {{2}, DType::i32}, "labels");
  const auto [loss, p] = build::softmax_cross_entropy(graph_, w_, labels);
  EXPECT_EQ(error(sum(p), w_),
            "unsupported: SoftmaxCrossEntropy: no gradient rule through the probabilities, only "
            "through the loss");
}

// A thousand ops with a view each: every gradient finds its way through its view alone.
TEST_F(Autodiff, ManyViews) {
  ValueId value = w_;
  for (int i = 0; i < 1000; ++i) {
    const Shape shape = i % 2 == 0 ? Shape{3, 2} : Shape{2, 3};
    value = build::scale(graph_, graph_.reshape(value, shape), 0.5);
  }
  (void)gradient(sum(value), w_);
  const Kinds kinds = appended();
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "Scale"), 1000);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "Add"), 0);
}

}  // namespace
}  // namespace stepscope
