// simplify: what goes, what must stay, and that no kept value changes.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "graph/passes/pass.h"
#include "ops/ir/build.h"
#include "ops/ir/op_def.h"
#include "ops/ir/print.h"
#include "ops/ir/verify.h"
#include "ops/models/model.h"
#include "tests/support/random_step.h"

namespace stepscope {
namespace {

std::ptrdiff_t count(const Graph& graph, OpKind kind) {
  return std::count_if(graph.ops().begin(), graph.ops().end(),
                       [&](const Op& op) { return op.kind == kind; });
}

class Simplify : public testing::Test {
 protected:
  Graph simplified() {
    verify(graph_, "test");
    Graph result = simplify(graph_);
    verify(result, "simplify");
    return result;
  }
  void expect_ops(std::size_t ops) {
    EXPECT_EQ(simplified().ops().size(), ops) << to_text(simplified());
  }
  void keep(ValueId id, std::string name) { graph_.keep(id, std::move(name)); }

  const TensorType type_{{2, 3}, DType::f32};
  Graph graph_;
  ValueId x_ = graph_.declare(Role::input, type_, "x");
  ValueId w_ = graph_.declare(Role::parameter, type_, "w");
  ValueId rate_ = graph_.declare(Role::state, {Shape{}, DType::f32}, "rate");
};

// ---- One.

TEST_F(Simplify, TheGradientOfALossNeedsNoOne) {
  const Graph described = make_model("mlp").step(32);
  EXPECT_EQ(described.ops().size(), 18U);
  const Graph graph = simplify(described);
  EXPECT_EQ(graph.ops().size(), 17U);
  EXPECT_EQ(count(graph, OpKind::Fill), 0);
  for (const Op& op : graph.ops()) {
    if (op.kind == OpKind::SoftmaxCrossEntropyGrad) {
      EXPECT_EQ(op.inputs.size(), 2U);
    }
  }
}

TEST_F(Simplify, AnotherLossGradientStays) {
  const ValueId labels = graph_.declare(Role::input, {{2}, DType::i32}, "labels");
  const auto [loss, p] = build::softmax_cross_entropy(graph_, x_, labels);
  const ValueId half = build::fill(graph_, {Shape{}, DType::f32}, 0.5);
  keep(loss, "loss");
  keep(graph_.apply1(OpKind::SoftmaxCrossEntropyGrad, {p, labels, half}), "grad");
  EXPECT_EQ(to_text(simplified()), to_text(graph_));
}

TEST_F(Simplify, MultiplicationsByOneGo) {
  const ValueId ones = build::fill(graph_, type_, 1.0);
  const ValueId flat = build::fill(graph_, {{6}, DType::f32}, 1.0);
  ValueId y = build::relu(graph_, x_);
  y = build::mul(graph_, y, ones);
  y = build::mul(graph_, graph_.reshape(flat, {2, 3}), y);
  y = build::scale(graph_, y, 1.0);
  keep(build::tanh(graph_, y), "y");
  const Graph graph = simplified();
  EXPECT_EQ(graph.ops().size(), 2U) << to_text(graph);
  EXPECT_EQ(graph.ops()[1].inputs, graph.ops()[0].outputs);
}

TEST_F(Simplify, OtherProductsAndSumsStay) {
  const ValueId y = build::relu(graph_, x_);
  const auto expect_stays = [&](OpKind kind, ValueId result) {
    Graph graph = graph_;
    graph.keep(build::tanh(graph, result), "z");
    EXPECT_EQ(count(simplify(graph), kind), 1) << to_text(graph);
  };
  const ValueId zeros = build::fill(graph_, type_, 0.0);
  const ValueId near_one = build::fill(graph_, type_, 1.0 + 1e-15);
  expect_stays(OpKind::Add, build::add(graph_, y, zeros));  // -0 + 0 is +0
  expect_stays(OpKind::Sub, build::sub(graph_, y, zeros));
  expect_stays(OpKind::Mul, build::mul(graph_, y, near_one));
  expect_stays(OpKind::Scale, build::scale(graph_, y, -1.0));
}

TEST_F(Simplify, AFillsAttributesMakeNoFill) {
  const ValueId y = build::relu(graph_, x_);
  const ValueId product = build::mul(graph_, y, test::mix(graph_, {x_}, type_, 1.0));
  keep(build::tanh(graph_, product), "z");
  expect_ops(4);
}

TEST_F(Simplify, TheNameMovesToTheInput) {
  const ValueId y = build::relu(graph_, x_);
  keep(build::scale(graph_, y, 1.0), "y");
  const Graph graph = simplified();
  ASSERT_EQ(graph.ops().size(), 1U);
  EXPECT_EQ(graph.label(graph.ops()[0].outputs[0]), "y");
  EXPECT_TRUE(graph.value(graph.ops()[0].outputs[0]).kept);
}

TEST_F(Simplify, NoValueGetsTwoNames) {
  keep(build::scale(graph_, x_, 1.0), "copy");  // x has a name of its own
  const ValueId y = build::relu(graph_, x_);
  keep(y, "y");
  keep(build::scale(graph_, y, 1.0), "again");
  const ValueId z = build::tanh(graph_, x_);
  keep(build::scale(graph_, z, 1.0), "first");
  keep(build::scale(graph_, z, 1.0), "second");
  const Graph graph = simplified();
  for (const char* name : {"copy", "y", "again", "first", "second"}) {
    EXPECT_TRUE(graph.find(name)) << name;
  }
  EXPECT_EQ(graph.ops().size(), 5U) << "only 'first' could go";
}

// After the update w holds other bits: a copy of the old ones must stay one.
TEST_F(Simplify, ACopyOfAParameterThatIsUpdatedStays) {
  const ValueId copy = build::scale(graph_, w_, 1.0);
  graph_.apply(OpKind::SgdUpdate, {w_, x_, rate_}, SgdAttrs{});
  keep(build::relu(graph_, copy), "y");
  expect_ops(3);
}

TEST_F(Simplify, ACopyOfAParameterThatIsNotUpdatedGoes) {
  keep(build::relu(graph_, build::scale(graph_, w_, 1.0)), "y");
  expect_ops(1);
}

TEST_F(Simplify, ViewsFollowWhatTheyShow) {
  const ValueId y = build::scale(graph_, build::relu(graph_, x_), 1.0);
  const ValueId view = graph_.reshape(y, {6});
  keep(build::tanh(graph_, view), "y");
  keep(view, "view");
  const Graph graph = simplified();
  ASSERT_EQ(graph.ops().size(), 2U);
  EXPECT_EQ(graph.storage(*graph.find("view")), graph.ops()[0].outputs[0]);
  EXPECT_EQ(graph.type(*graph.find("view")).shape, (Shape{6}));
}

// ---- Dead ops.

TEST_F(Simplify, OpsThatNothingNeedsGo) {
  const ValueId y = build::relu(graph_, x_);
  (void)build::tanh(graph_, build::tanh(graph_, y));
  (void)build::relu(graph_, graph_.reshape(y, {6}));
  keep(y, "y");
  expect_ops(1);
}

TEST_F(Simplify, OneOutputInUseKeepsTheOp) {
  const ValueId labels = graph_.declare(Role::input, {{2}, DType::i32}, "labels");
  keep(build::softmax_cross_entropy(graph_, x_, labels).probabilities, "p");
  expect_ops(1);
}

TEST_F(Simplify, AKeptViewKeepsTheOp) {
  keep(graph_.reshape(build::relu(graph_, x_), {6}), "flat");
  expect_ops(1);
}

TEST_F(Simplify, UpdatesStayAndWhatTheyNeed) {
  const ValueId gradient = build::relu(graph_, x_);
  graph_.apply(OpKind::SgdUpdate, {w_, gradient, rate_}, SgdAttrs{});
  expect_ops(2);
}

OpKind stateful_op() {
  static const OpKind kind =
      add_op({.name = "TestStateful",
              .infer = [](std::span<const TensorType> in, const Attrs&,
                          TypeList& out) { out.push_back(in[0]); },
              .work = [](std::span<const TensorType>, std::span<const TensorType>,
                         const Attrs&) { return Work{}; },
              .stateful = true});
  return kind;
}

TEST_F(Simplify, StatefulOpsAreNeitherDroppedNorMerged) {
  (void)graph_.apply1(stateful_op(), {x_});
  (void)graph_.apply1(stateful_op(), {x_});
  expect_ops(2);
}

TEST_F(Simplify, DeclaredValuesStay) {
  EXPECT_EQ(to_text(simplified()), to_text(graph_)) << "layouts of all graphs of a model agree";
}

// ---- Equal ops.

TEST_F(Simplify, EqualOpsAreOne) {
  const ValueId a = build::tanh(graph_, build::relu(graph_, x_));
  const ValueId b = build::tanh(graph_, build::relu(graph_, x_));
  keep(build::add(graph_, a, b), "sum");
  const Graph graph = simplified();
  ASSERT_EQ(graph.ops().size(), 3U);
  EXPECT_EQ(graph.ops()[2].inputs[0], graph.ops()[2].inputs[1]);
}

TEST_F(Simplify, KindAttributesInputsAndPhasesTellOpsApart) {
  const auto expect_apart = [&](ValueId a, ValueId b) {
    Graph graph = graph_;
    graph.keep(build::sub(graph, a, b), "difference");
    EXPECT_EQ(simplify(graph).ops().size(), 3U) << to_text(graph);
  };
  expect_apart(build::relu(graph_, x_), build::tanh(graph_, x_));
  expect_apart(build::scale(graph_, x_, 0.0), build::scale(graph_, x_, -0.0));
  expect_apart(build::add(graph_, x_, w_), build::add(graph_, w_, x_));
  const ValueId forward = build::relu(graph_, x_);
  graph_.enter(Phase::backward);
  expect_apart(forward, build::relu(graph_, x_));
}

TEST_F(Simplify, OfTwoEqualKeptValuesBothStay) {
  keep(build::relu(graph_, x_), "a");
  keep(build::relu(graph_, x_), "b");
  expect_ops(2);
}

TEST_F(Simplify, OfEqualValuesOneMayBeKept) {
  const ValueId plain = build::relu(graph_, x_);
  const ValueId kept = build::relu(graph_, x_);
  keep(kept, "kept");
  keep(build::tanh(graph_, plain), "y");
  const Graph graph = simplified();
  ASSERT_EQ(graph.ops().size(), 2U);
  EXPECT_EQ(graph.ops()[0].outputs[0], *graph.find("kept"));
}

TEST_F(Simplify, EqualOpsOnOldAndNewParametersAreNotEqual) {
  const ValueId before = build::relu(graph_, w_);
  const ValueId updated = graph_.apply1(OpKind::SgdUpdate, {w_, x_, rate_}, SgdAttrs{});
  const ValueId after = build::relu(graph_, updated);
  keep(build::sub(graph_, after, before), "step");
  expect_ops(4);
}

TEST_F(Simplify, EqualUpdatesAreTwoUpdates) {
  const ValueId once = graph_.apply1(OpKind::SgdUpdate, {w_, x_, rate_}, SgdAttrs{});
  graph_.apply(OpKind::SgdUpdate, {once, x_, rate_}, SgdAttrs{});
  expect_ops(2);
}

// ---- Random steps: what is kept is the same expression of what was declared.

// Writes down each kept value, and each parameter as the step leaves it, as an expression.
std::map<std::string, std::string> meaning(const Graph& graph) {
  std::vector<std::size_t> hashes(
      graph.values().size());  // of the expressions; those grow too long
  const auto hash = [&](ValueId id) -> std::size_t& {
    return hashes[static_cast<std::size_t>(id.index)];
  };
  const auto show = [&](ValueId id) {
    return fmt::format("{} as {}", hash(graph.source(id)), to_string(graph.type(id).shape));
  };
  std::map<std::string, std::string> result;
  for (const ValueId id : graph.ids()) {
    if (graph.value(id).producer < 0) hash(id) = std::hash<std::string>{}(graph.value(id).name);
  }
  for (const Op& op : graph.ops()) {
    std::string text = fmt::format("{}({})", name(op.kind), to_string(op.attrs));
    for (const ValueId id : op.inputs) text += fmt::format(" {}", show(id));
    for (std::size_t k = 0; k < op.outputs.size(); ++k) {
      hash(op.outputs[k]) = std::hash<std::string>{}(fmt::format("{} of {}", k, text));
      const Value& value = graph.value(op.outputs[k]);
      if (value.sharing == Sharing::overwrite)
        result[graph.label(value.storage)] = show(op.outputs[k]);
    }
  }
  for (const ValueId id : graph.ids()) {
    if (graph.value(id).kept) result[graph.label(id)] = show(id);
  }
  return result;
}

TEST(RandomSimplify, KeepsWhatIsKeptAndUpdated) {
  int smaller = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Graph graph = *test::random_step(seed).graph;
    const Graph simpler = simplify(graph);
    verify(simpler, "simplify");
    EXPECT_EQ(meaning(simpler), meaning(graph));
    EXPECT_EQ(to_text(simplify(simpler)), to_text(simpler)) << "a second time changes nothing";
    EXPECT_LE(simpler.ops().size(), graph.ops().size());
    if (simpler.ops().size() < graph.ops().size()) ++smaller;
  }
  EXPECT_GE(smaller, 150) << "or the graphs test nothing";
}

}  // namespace
}  // namespace stepscope
