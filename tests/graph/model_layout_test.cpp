// The model segment: shared by several graphs, and what they may not disagree on.
// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/model_layout.h"

#include <gtest/gtest.h>

#include <array>

#include "ops/ir/build.h"
#include "ops/models/model.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

Graph declaring(Role role, const TensorType& type, std::string name) {
  Graph graph;
  (void)graph.declare(role, type, std::move(name));
  return graph;
}

std::string error_with(const Graph& a, const Graph& b) {
  return error_of([&] { ModelLayout(std::array{&a, &b}, 64); });
}

TEST(ModelLayout, InOrderOfDeclarationAligned) {
  Graph graph;
  (void)graph.declare(Role::input, {{3, 5}, DType::f32}, "x");
  (void)graph.declare(Role::parameter, {{5, 7}, DType::f32}, "w");
  (void)build::relu(graph, graph.declare(Role::parameter, {{7}, DType::f32}, "a_bias"));
  const ModelLayout layout(std::array<const Graph*, 1>{&graph}, 64);
  EXPECT_EQ(layout.entries().size(), 3U) << "computed values have no place here";
  EXPECT_EQ(layout.at("x").offset, 0U);
  EXPECT_EQ(layout.at("x").bytes, 60U);
  EXPECT_EQ(layout.at("w").offset, 64U);
  EXPECT_EQ(layout.at("a_bias").offset, 64U + 192U) << "not in order of names";
  EXPECT_EQ(layout.bytes(), 64U + 192U + 64U);

  const ModelLayout wide(std::array<const Graph*, 1>{&graph}, 256);
  EXPECT_EQ(wide.at("w").offset, 256U);
  EXPECT_EQ(wide.bytes(), 768U);
}

// Full batch, partial batch and evaluation share one segment: an input has room for the largest.
TEST(ModelLayout, GraphsOfAModelShareIt) {
  const Model model = make_model("mlp:4-3-2");
  const Graph partial = model.step(5);
  const Graph full = model.step(32);
  const Graph evaluation = model.evaluation(100);
  const ModelLayout layout(std::array{&partial, &full, &evaluation}, 64);
  EXPECT_EQ(layout.at("x").type, (TensorType{{100, 4}, DType::f32}));
  EXPECT_EQ(layout.at("x").bytes, 1600U);
  EXPECT_EQ(layout.at("labels").bytes, 400U);
  EXPECT_EQ(layout.at("labels").offset, 1600U);
  EXPECT_EQ(layout.at("w1").role, Role::parameter);
  EXPECT_EQ(layout.at("control.step").role, Role::state);

  const ModelLayout other_order(std::array{&evaluation, &partial, &full}, 64);
  EXPECT_EQ(other_order.at("x").bytes, 1600U);
}

TEST(ModelLayout, WhatGraphsMayNotDisagreeOn) {
  const TensorType f2{{2}, DType::f32}, f3{{3}, DType::f32}, i2{{2}, DType::i32};
  EXPECT_EQ(error_with(declaring(Role::parameter, f2, "w"), declaring(Role::parameter, f3, "w")),
            "bad graph: model layout: parameter 'w' is f32{2} in one graph, f32{3} in another");
  EXPECT_EQ(error_with(declaring(Role::state, f2, "m"), declaring(Role::state, i2, "m")),
            "bad graph: model layout: state 'm' is f32{2} in one graph, i32{2} in another");
  EXPECT_EQ(error_with(declaring(Role::input, f2, "x"), declaring(Role::input, i2, "x")),
            "bad graph: model layout: input 'x' is f32{2} in one graph, i32{2} in another");
  EXPECT_EQ(error_with(declaring(Role::input, f2, "x"), declaring(Role::state, f2, "x")),
            "bad graph: model layout: 'x' is input in one graph, state in another");
  EXPECT_EQ(error_with(declaring(Role::input, f2, "x"), declaring(Role::input, f3, "x")),
            "no error");
}

TEST(ModelLayout, SaysWhatIsMissing) {
  const Graph graph = declaring(Role::input, {{2}, DType::f32}, "x");
  const ModelLayout layout(std::array{&graph}, 64);
  EXPECT_EQ(error_of([&] { (void)layout.at("y"); }),
            "bad graph: model layout: there is no 'y' in it");
  EXPECT_EQ(error_of([&] { ModelLayout(std::array{&graph}, 48); }),
            "bad graph: model layout: the alignment must be a power of two, got 48");
}

}  // namespace
}  // namespace stepscope
