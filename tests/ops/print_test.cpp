// Graphs as text and as DOT.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/print.h"

#include <gtest/gtest.h>

#include "ops/ir/build.h"
#include "ops/models/model.h"
#include "tests/support/golden.h"

namespace stepscope {
namespace {

TEST(GraphText, Mlp) {
  test::expect_golden("ir/mlp-4-3-2.txt", to_text(make_model("mlp:4-3-2").step(2)));
}

TEST(GraphText, MlpAsDot) {
  test::expect_golden("ir/mlp-4-3-2.dot", to_dot(make_model("mlp:4-3-2").step(2)));
}

// Views of two versions of a parameter, several outputs, a kept view, a set of phases.
Graph unusual() {
  Graph graph;
  const ValueId x = graph.declare(Role::input, {{2, 3}, DType::f32}, "x");
  const ValueId labels = graph.declare(Role::input, {{2}, DType::i32}, "labels");
  const ValueId w = graph.declare(Role::parameter, {{2, 3}, DType::f32}, "w");
  const ValueId rate = graph.declare(Role::state, {Shape{}, DType::f32}, "rate");
  const ValueId before = build::relu(graph, graph.reshape(w, {6}));
  const auto [loss, p] = build::softmax_cross_entropy(graph, x, labels);
  graph.keep(loss, "loss");
  graph.enter(PhaseSet(Phase::backward) | Phase::update);
  const ValueId updated = graph.apply1(OpKind::SgdUpdate, {w, p, rate}, SgdAttrs{});
  const ValueId after = build::relu(graph, graph.reshape(updated, {6}));
  graph.keep(graph.reshape(build::sub(graph, after, before), {3, 2}), "moved");
  graph.keep(graph.reshape(x, {6}), "flat");
  return graph;
}

TEST(GraphText, ViewsUpdatesAndKeptValues) {
  test::expect_golden("ir/unusual.txt", to_text(unusual()));
}

TEST(GraphText, ViewsUpdatesAndKeptValuesAsDot) {
  test::expect_golden("ir/unusual.dot", to_dot(unusual()));
}

TEST(GraphText, NothingAtAll) {
  EXPECT_EQ(to_text(Graph()), "stepscope-ir 1\n");
  EXPECT_EQ(to_dot(Graph()).substr(0, 14), "digraph step {");
}

}  // namespace
}  // namespace stepscope
