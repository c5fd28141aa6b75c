// Folded SGD: where the products stand, who counts the step, and each reason to leave a step as it
// is. Whether the numbers are right is tests/backends/execution/fusion_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/plan/hazards.h"
#include "graph/plan/schedule.h"
#include "ops/autodiff/backward.h"
#include "ops/ir/copy.h"
#include "ops/models/model.h"
#include "tests/graph/fusion_rig.h"
#include "tests/support/errors.h"
#include "tests/support/plan_check.h"
#include "tests/support/random_step.h"

namespace stepscope {
namespace {

using test::count;
using test::kinds_of;
using test::notes_of;
using test::op_of;
using test::run_pass;

// Two dense layers with gradients; updates are the test's.
class FoldSgd : public testing::Test {
 protected:
  FoldSgd() {
    const auto layer = [&](ValueId h, std::int64_t in, std::int64_t out, const std::string& i) {
      const ValueId w = graph_.declare(Role::parameter, {{in, out}, DType::f32}, "w" + i);
      const ValueId b = graph_.declare(Role::parameter, {{out}, DType::f32}, "b" + i);
      parameters_.insert(parameters_.end(), {w, b});
      return build::add_bias(graph_, build::matmul(graph_, h, w), b);
    };
    hidden_ = build::relu(graph_, layer(x_, 4, 3, "1"));
    const ValueId logits = layer(hidden_, 3, 2, "2");
    loss_ = build::softmax_cross_entropy(graph_, logits, labels_).loss;
    graph_.keep(loss_, "loss");
    graph_.enter(Phase::backward);
    gradients_ = add_backward(graph_, loss_, parameters_);
    graph_.enter(Phase::update);
  }

  std::vector<ValueId> sgd(int i, ValueId gradient, bool count = false) {
    std::vector<ValueId> inputs = {parameters_[static_cast<std::size_t>(i)], gradient, rate_};
    if (count) inputs.push_back(step_);
    return graph_.apply(OpKind::SgdUpdate, std::move(inputs), SgdAttrs{count});
  }
  // Plain updates of all parameters but those the test updates itself; the last counts.
  void update_all_but(std::vector<int> others = {}) {
    for (int i = 3; i >= 0; --i) {
      if (std::find(others.begin(), others.end(), i) == others.end()) sgd(i, gradient(i), i == 0);
    }
  }
  ValueId gradient(int i) const { return gradients_[static_cast<std::size_t>(i)]; }

  PassResult folded() { return run_pass(fold_sgd, simplify(graph_)); }
  void expect_refused(const std::string& why) {
    test::expect_unchanged(fold_sgd, simplify(graph_), why);
  }

  Graph graph_;
  ValueId x_ = graph_.declare(Role::input, {{2, 4}, DType::f32}, "x");
  ValueId labels_ = graph_.declare(Role::input, {{2}, DType::i32}, "labels");
  ValueId rate_ = graph_.declare(Role::state, {Shape{}, DType::f32}, std::string(kLearningRate));
  ValueId step_ = graph_.declare(Role::state, {Shape{}, DType::i32}, std::string(kStepCount));
  std::vector<ValueId> parameters_, gradients_;  // w1, b1, w2, b2
  ValueId hidden_, loss_;
};

// ---- What it does.

TEST_F(FoldSgd, ScalesTheLossGradientAndNothingElse) {
  update_all_but();
  const Graph graph = folded().graph;
  EXPECT_EQ(count(graph, OpKind::MatMulUpdate), 2);
  EXPECT_EQ(count(graph, OpKind::SgdUpdate), 2);
  EXPECT_EQ(graph.ops().size(), simplify(graph_).ops().size() - 2);
  const ValueId rate = *graph.find(kLearningRate);
  for (const Op& op : graph.ops()) {
    const bool reads = std::find(op.inputs.begin(), op.inputs.end(), rate) != op.inputs.end();
    EXPECT_EQ(reads, op.kind == OpKind::SoftmaxCrossEntropyGrad) << name(op.kind);
    if (const auto* sgd = std::get_if<SgdAttrs>(&op.attrs)) {
      EXPECT_TRUE(sgd->scaled_gradient);
    }
  }
}

TEST_F(FoldSgd, WorksOnTheFusedLossAndWithBiasGradients) {
  update_all_but();
  const Graph fused = fuse_bias_grad(fuse_loss_grad(simplify(graph_)).graph).graph;
  const Graph graph = run_pass(fold_sgd, fused).graph;
  EXPECT_EQ(op_of(graph, OpKind::SoftmaxCrossEntropyWithGrad).inputs.size(), 3U);
  for (int which = 0; which < 2; ++which) {
    const Op& product = op_of(graph, OpKind::MatMulUpdate, which);
    EXPECT_EQ(std::get<ProductUpdateAttrs>(product.attrs), (ProductUpdateAttrs{true, false, true}));
    ASSERT_EQ(product.outputs.size(), 2U);
    EXPECT_EQ(graph.value(product.outputs[0]).sharing, Sharing::overwrite);
    EXPECT_EQ(graph.value(product.outputs[1]).sharing, Sharing::own);
    EXPECT_EQ(product.phases, Phase::backward | PhaseSet(Phase::update));
  }
}

TEST_F(FoldSgd, WorksOnConvolutions) {
  const Graph step = simplify(make_model("small_cnn").step(2));
  const Graph plain = run_pass(fold_sgd, step).graph;
  EXPECT_EQ(count(plain, OpKind::Conv2dWeightUpdate), 2);
  EXPECT_EQ(count(plain, OpKind::BiasGrad), 2);
  const Graph with_bias = run_pass(fold_sgd, fuse_bias_grad(step).graph).graph;
  const Op& update = op_of(with_bias, OpKind::Conv2dWeightUpdate);
  EXPECT_EQ(std::get<Conv2dUpdateAttrs>(update.attrs), (Conv2dUpdateAttrs{1, 1, 1, 1, true}));
}

// ---- The order.

std::size_t place(const Graph& graph, const Op& op) {
  return static_cast<std::size_t>(&op - graph.ops().data());
}

const Op& product_of(const Graph& graph, std::string_view weight) {
  return *std::find_if(graph.ops().begin(), graph.ops().end(), [&](const Op& op) {
    return op.kind == OpKind::MatMulUpdate && graph.label(op.inputs[0]) == weight;
  });
}

// The trap: dX reads the old W. No reader of a version may stand behind the op that overwrites it.
TEST_F(FoldSgd, NoProductStandsBeforeAReaderOfTheOldWeight) {
  update_all_but();
  for (Graph graph : {folded().graph, fold_sgd(fuse_bias_grad(simplify(graph_)).graph).graph}) {
    graph = reordered(graph, schedule(graph));
    for (int which = 0; which < 2; ++which) {
      const Op& product = op_of(graph, OpKind::MatMulUpdate, which);
      for (const Op& op : graph.ops()) {
        if (&op == &product) continue;
        for (const ValueId id : op.inputs) {
          if (graph.source(id) == product.inputs[0]) {
            EXPECT_LT(place(graph, op), place(graph, product));
          }
        }
      }
    }
  }
}

TEST_F(FoldSgd, AProductStandsBehindALateReaderOfItsWeight) {
  const ValueId late = build::relu(graph_, parameters_[2]);
  graph_.keep(build::scale(graph_, late, 2.0), "watched");
  update_all_but();
  Graph graph = folded().graph;
  graph = reordered(graph, schedule(graph));
  std::size_t reader = 0;
  for (const Op& op : graph.ops()) {
    if (op.kind == OpKind::Relu && op.inputs[0] == *graph.find("w2")) reader = place(graph, op);
  }
  EXPECT_LT(reader, place(graph, product_of(graph, "w2")));
}

TEST_F(FoldSgd, AReaderOfTheOldWeightBehindTheProductIsAgainstTheLaw) {
  update_all_but();
  const Graph graph = folded().graph;
  std::vector<std::size_t> order(graph.ops().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::size_t product = place(graph, op_of(graph, OpKind::MatMulUpdate));
  const auto reader = std::find_if(graph.ops().begin(), graph.ops().end(), [](const Op& op) {
    return op.kind == OpKind::MatMul && std::get<MatMulAttrs>(op.attrs).transpose_b;
  });
  const auto from = static_cast<std::size_t>(reader - graph.ops().begin());
  std::rotate(order.begin() + static_cast<std::ptrdiff_t>(from),
              order.begin() + static_cast<std::ptrdiff_t>(product),
              order.begin() + static_cast<std::ptrdiff_t>(product) + 1);
  EXPECT_EQ(test::error_of([&] { (void)reordered(graph, order); }),
            "bad graph: reordered: op 9 (MatMul) reads w2 after op 8 overwrote its storage w2");
}

TEST_F(FoldSgd, AReaderOfTheNewWeightReadsTheNewOne) {
  const ValueId new_w2 = sgd(2, gradient(2))[0];
  graph_.keep(build::relu(graph_, new_w2), "after");
  update_all_but({2});
  const PassResult result = folded();
  const Op& product = op_of(result.graph, OpKind::MatMulUpdate);
  const Value& after = result.graph.value(*result.graph.find("after"));
  EXPECT_EQ(result.graph.ops()[static_cast<std::size_t>(after.producer)].inputs[0],
            product.outputs[0]);
}

// ---- The count of the step.

TEST_F(FoldSgd, TheLastUpdateOfABiasCountsTheStep) {
  update_all_but();
  const Graph graph = folded().graph;
  const Op& last = graph.ops().back();
  ASSERT_EQ(last.kind, OpKind::SgdUpdate);
  EXPECT_EQ(std::get<SgdAttrs>(last.attrs), (SgdAttrs{true, 1, true}));
  EXPECT_EQ(graph.label(last.inputs[0]), "b1");
  ASSERT_EQ(last.outputs.size(), 2U);
  EXPECT_EQ(graph.storage(last.outputs[1]), *graph.find(kStepCount));
}

TEST_F(FoldSgd, ABiasThatCountedTheStepGoesOnCounting) {
  for (const int i : {3, 2, 0}) sgd(i, gradient(i));
  sgd(1, gradient(1), true);
  const PassResult result = folded();
  EXPECT_EQ(notes_of(result), "");
  EXPECT_EQ(count(result.graph, OpKind::MatMulUpdate), 2);
  EXPECT_EQ(result.graph.label(result.graph.ops().back().inputs[0]), "b1");
}

TEST_F(FoldSgd, TheLastWeightStaysAnUpdateWhenNoOtherIsThereToCount) {
  sgd(2, gradient(2));
  sgd(0, gradient(0), true);
  const PassResult result = folded();
  EXPECT_EQ(notes_of(result),
            "w1 keeps its update: the last update counts the step, and no other can be the last");
  EXPECT_EQ(count(result.graph, OpKind::MatMulUpdate), 1);
  EXPECT_EQ(std::get<SgdAttrs>(result.graph.ops().back().attrs), (SgdAttrs{true, 1, true}));
}

TEST_F(FoldSgd, AnUpdateWhoseResultIsReadCannotBeTheLast) {
  for (const int i : {3, 2}) sgd(i, gradient(i));
  graph_.keep(build::relu(graph_, sgd(1, gradient(1))[0]), "after");
  sgd(0, gradient(0), true);
  const Graph graph = folded().graph;
  EXPECT_EQ(graph.label(graph.ops().back().inputs[0]), "b2");
}

TEST_F(FoldSgd, AReaderOfTheNewCountHoldsIt) {
  for (const int i : {3, 2, 1}) sgd(i, gradient(i));
  const ValueId count_now = sgd(0, gradient(0), true)[1];
  graph_.keep(graph_.apply1(OpKind::Cast, {count_now}, CastAttrs{DType::f32}), "count");
  EXPECT_EQ(notes_of(folded()),
            "w1 keeps its update: the last update counts the step, and no other can be the last");
}

// ---- Single products that stay; the rest is folded.

TEST_F(FoldSgd, AGradientMadeOfItsOwnWeightStaysAProduct) {
  Graph graph;
  const ValueId w = graph.declare(Role::parameter, {{3, 3}, DType::f32}, "w");
  const ValueId v = graph.declare(Role::parameter, {{3, 3}, DType::f32}, "v");
  const ValueId labels = graph.declare(Role::input, {{3}, DType::i32}, "labels");
  const ValueId rate = graph.declare(Role::state, {Shape{}, DType::f32}, "control.lr");
  const ValueId h = build::matmul(graph, w, v);
  const ValueId loss = build::softmax_cross_entropy(graph, h, labels).loss;
  const std::array wrt = {w, v};
  const std::vector<ValueId> gradients = add_backward(graph, loss, wrt);
  graph.apply(OpKind::SgdUpdate, {w, gradients[0], rate}, SgdAttrs{});
  graph.apply(OpKind::SgdUpdate, {v, gradients[1], rate}, SgdAttrs{});
  const PassResult result = run_pass(fold_sgd, simplify(graph));
  EXPECT_EQ(notes_of(result), "v keeps its update: w is overwritten before it")
      << "dv = w^T dh reads the old w, and w is updated first";
  EXPECT_EQ(count(result.graph, OpKind::MatMulUpdate), 1);

  Graph square;
  const ValueId u = square.declare(Role::parameter, {{3, 3}, DType::f32}, "u");
  const ValueId of = square.declare(Role::input, {{3}, DType::i32}, "labels");
  const ValueId r = square.declare(Role::state, {Shape{}, DType::f32}, "control.lr");
  const ValueId p = build::softmax_cross_entropy(square, build::relu(square, u), of).probabilities;
  const ValueId dh = square.apply1(OpKind::SoftmaxCrossEntropyGrad, {p, of});
  square.apply(OpKind::SgdUpdate, {u, build::matmul(square, u, dh), r}, SgdAttrs{});
  test::expect_unchanged(fold_sgd, square, "u keeps its update: its gradient is made from it");
}

TEST_F(FoldSgd, LeavesAStepWithoutWeightsToFold) {
  for (const int i : {3, 1}) sgd(i, gradient(i));
  expect_refused("no product makes a weight gradient");
}

TEST_F(FoldSgd, LeavesAStepWhoseOneWeightCountsIt) {
  sgd(0, gradient(0), true);
  expect_refused(
      "w1 keeps its update: the last update counts the step, and no other can be the last");
}

TEST_F(FoldSgd, ABiasGradientThatIsReadTooEarlyHoldsItsProduct) {
  sgd(3, gradient(3));
  const ValueId new_b1 = sgd(1, gradient(1))[0];
  graph_.keep(build::relu(graph_, new_b1), "after");
  sgd(0, gradient(0));
  sgd(2, gradient(2));
  const PassResult result = run_pass(fold_sgd, fuse_bias_grad(simplify(graph_)).graph);
  EXPECT_EQ(notes_of(result), "w1 keeps its update: %13 is read before it");
  EXPECT_EQ(count(result.graph, OpKind::MatMulUpdate), 1);
  EXPECT_EQ(count(result.graph, OpKind::MatMulBiasGrad), 1);
}

// ---- Refusals: all or nothing.

TEST_F(FoldSgd, RefusesAGradientThatIsReadTwice) {
  update_all_but();
  graph_.keep(build::scale(graph_, loss_, 2.0), "twice");
  Graph simple = simplify(graph_);
  (void)build::reduce_sum(simple, op_of(simple, OpKind::SgdUpdate, 3).inputs[1], 0);
  test::expect_unchanged(fold_sgd, simple, "the gradient of w1, %13, has 2 readers");
}

TEST_F(FoldSgd, RefusesALossGradientThatHasAFactor) {
  update_all_but();
  test::expect_unchanged(fold_sgd, graph_, "the loss gradient %8 is multiplied by %7 already");
}

TEST_F(FoldSgd, RefusesAKeptGradient) {
  update_all_but();
  graph_.keep(gradient(2), "dw2");
  expect_refused("the gradient dw2 is kept");
}

TEST_F(FoldSgd, RefusesAKeptGradientOfAnActivation) {
  update_all_but();
  Graph simple = simplify(graph_);
  simple.keep(op_of(simple, OpKind::ReluGrad).outputs[0], "dz1");
  test::expect_unchanged(fold_sgd, simple, "the gradient dz1 is kept");
}

TEST_F(FoldSgd, RefusesAKeptViewOfAGradient) {
  update_all_but();
  graph_.keep(graph_.reshape(gradient(2), {6}), "flat");
  const PassResult result = folded();
  EXPECT_EQ(count(result.graph, OpKind::MatMulUpdate), 0);
  EXPECT_EQ(notes_of(result), "the gradient %10 is kept");
}

TEST_F(FoldSgd, RefusesMomentum) {
  const ValueId v = graph_.declare(Role::state, {{3, 2}, DType::f32}, "w2.velocity");
  graph_.apply(OpKind::MomentumUpdate, {parameters_[2], gradient(2), v, rate_}, MomentumAttrs{});
  update_all_but({2});
  expect_refused("w2 is updated by MomentumUpdate, not by plain SGD");
}

TEST_F(FoldSgd, RefusesAdam) {
  const ValueId m = graph_.declare(Role::state, {{3, 2}, DType::f32}, "w2.m");
  const ValueId v = graph_.declare(Role::state, {{3, 2}, DType::f32}, "w2.v");
  graph_.apply(OpKind::AdamUpdate, {parameters_[2], gradient(2), m, v, rate_, step_}, AdamAttrs{});
  update_all_but({2});
  expect_refused("w2 is updated by AdamUpdate, not by plain SGD");
}

TEST_F(FoldSgd, RefusesWeightDecay) {
  const ValueId decay = build::scale(graph_, parameters_[2], 1e-4);
  sgd(2, build::add(graph_, gradient(2), decay));
  update_all_but({2});
  expect_refused("Add %15 adds a gradient and what is none");
}

TEST_F(FoldSgd, RefusesAnOpThatIsNotLinear) {
  sgd(2, build::tanh(graph_, gradient(2)));
  update_all_but({2});
  expect_refused("Tanh %14 is not known to be linear in the gradient");
}

TEST_F(FoldSgd, RefusesTheSquareOfAGradient) {
  sgd(2, build::mul(graph_, gradient(2), gradient(2)));
  update_all_but({2});
  expect_refused("Mul %14 is not linear in the gradient");
}

TEST_F(FoldSgd, AcceptsWhatIsLinear) {
  const ValueId twice = build::add(graph_, gradient(2), build::scale(graph_, gradient(2), 0.5));
  sgd(2, build::mul(graph_, build::fill(graph_, {{3, 2}, DType::f32}, 0.5), twice));
  update_all_but({2});
  EXPECT_EQ(notes_of(folded()), "");
}

TEST_F(FoldSgd, RefusesASecondRate) {
  const ValueId other = graph_.declare(Role::state, {Shape{}, DType::f32}, "slow");
  graph_.apply(OpKind::SgdUpdate, {parameters_[2], gradient(2), other}, SgdAttrs{});
  update_all_but({2});
  expect_refused("w2 is updated at the rate slow, not control.lr");
}

TEST_F(FoldSgd, RefusesARateThatTheStepChanges) {
  update_all_but({0});
  const ValueId lower = build::fill(graph_, {Shape{}, DType::f32}, 0.1);
  const ValueId slow = graph_.declare(Role::state, {Shape{}, DType::f32}, "slow");
  graph_.apply(OpKind::SgdUpdate, {rate_, lower, slow}, SgdAttrs{});
  expect_refused("control.lr is overwritten in the step");
}

TEST_F(FoldSgd, RefusesAStateThatGathersGradients) {
  static const OpKind kGather =
      add_op({.name = "TestGather",
              .infer = [](std::span<const TensorType> in, const Attrs&,
                          TypeList& out) { out.push_back(in[0]); },
              .work = [](std::span<const TensorType>, std::span<const TensorType>,
                         const Attrs&) { return Work{}; },
              .overwrites = [](const Attrs&, std::size_t, std::size_t) { return 0; }});
  const ValueId norms = graph_.declare(Role::state, {{3}, DType::f32}, "norms");
  graph_.apply(kGather, {norms, build::scale(graph_, gradient(1), 1.5)});
  update_all_but();
  expect_refused("TestGather %15 is not known to be linear in the gradient");
}

TEST_F(FoldSgd, RefusesUpdatesThatWereMerged) {
  update_all_but();
  test::expect_unchanged(fold_sgd, fuse_multi_tensor(simplify(graph_)).graph,
                         "the update of b2 was fused before");
}

TEST_F(FoldSgd, RefusesToFoldTwice) {
  update_all_but();
  const Graph once = folded().graph;
  test::expect_unchanged(fold_sgd, once,
                         "the loss gradient %7 is multiplied by control.lr already");
}

TEST_F(FoldSgd, RefusesNarrowTypes) {
  update_all_but();
  test::expect_unchanged(fold_sgd, with_dtype(simplify(graph_), DType::f16),
                         "the loss gradient %7 is f16, neither f32 nor f64");
  EXPECT_EQ(notes_of(fold_sgd(with_dtype(simplify(graph_), DType::f64))), "");
}

TEST_F(FoldSgd, SaysWhatIsMissing) {
  test::expect_unchanged(fold_sgd, make_model("chain:3").step(1), "there is no control.lr");
  Graph graph;
  (void)graph.declare(Role::state, {Shape{}, DType::f32}, std::string(kLearningRate));
  test::expect_unchanged(fold_sgd, graph,
                         "there is no gradient of a softmax cross-entropy to carry the rate");
  expect_refused("there is no gradient of a softmax cross-entropy to carry the rate");
}

// ---- Plans of folded steps.

class FoldedPlans : public testing::TestWithParam<std::string> {};

TEST_P(FoldedPlans, AreSoundAndKeepTheOrder) {
  const Graph step = make_model(GetParam()).step(4);
  const Graph folded = run_passes(step, passes_for(parse_fusion("on"), {})).graph;
  const test::Step planned = test::step_of(folded);
  const Plan plan = test::plan_of(planned);
  EXPECT_EQ(test::first_fault(plan, planned.needs), "");
  const std::vector<Edge> edges = hazards(plan);
  for (std::size_t i = 0; i < folded.ops().size(); ++i) {
    const Op& op = folded.ops()[i];
    for (const ValueId id : op.outputs) {
      if (folded.value(id).sharing != Sharing::overwrite) continue;
      for (std::size_t j = 0; j < i; ++j) {
        const std::vector<ValueId>& inputs = folded.ops()[j].inputs;
        if (std::find(inputs.begin(), inputs.end(), folded.storage(id)) == inputs.end()) continue;
        EXPECT_TRUE(
            std::any_of(edges.begin(), edges.end(),
                        [&](const Edge& edge) { return edge.before == j && edge.after == i; }))
            << "op " << i << " must wait for op " << j;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Each, FoldedPlans, testing::Values("mlp:5-4-3", "small_cnn", "lenet"),
                         [](const auto& made) { return made.param.substr(0, 3); });

}  // namespace
}  // namespace stepscope
