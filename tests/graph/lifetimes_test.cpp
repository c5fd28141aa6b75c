// Lifetimes of storages, in op indices.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "graph/plan/plan.h"
#include "ops/ir/build.h"

namespace stepscope {
namespace {

constexpr DType kF32 = DType::f32;

class Lifetimes : public testing::Test {
 protected:
  void expect(ValueId id, std::int32_t first, std::int32_t last) const {
    const Lifetime life = lifetimes(graph_)[static_cast<std::size_t>(id.index)];
    EXPECT_EQ(life.first, first) << graph_.label(id);
    EXPECT_EQ(life.last, last) << graph_.label(id);
  }

  Graph graph_;
  ValueId x_ = graph_.declare(Role::input, {{2, 3}, kF32}, "x");
};

TEST_F(Lifetimes, FromTheMakerToTheLastReader) {
  const ValueId a = build::relu(graph_, x_);     // op 0
  const ValueId b = build::tanh(graph_, a);      // op 1
  const ValueId c = build::add(graph_, a, b);    // op 2
  const ValueId d = build::scale(graph_, c, 2);  // op 3
  expect(a, 0, 2);
  expect(b, 1, 2);
  expect(c, 2, 3);
  expect(d, 3, 3);
}

TEST_F(Lifetimes, DeclaredValuesAreThereAllTheTime) {
  const ValueId w = graph_.declare(Role::parameter, {{3}, kF32}, "w");
  (void)build::add_bias(graph_, x_, w);
  (void)build::relu(graph_, x_);
  expect(x_, 0, 1);
  expect(w, 0, 1);
}

TEST_F(Lifetimes, AKeptValueLivesToTheEnd) {
  const ValueId a = build::relu(graph_, x_);
  (void)build::relu(graph_, x_);
  (void)build::relu(graph_, x_);
  graph_.keep(a, "a");
  expect(a, 0, 2);
}

TEST_F(Lifetimes, AViewExtendsItsStorage) {
  const ValueId a = build::relu(graph_, x_);  // op 0
  const ValueId flat = graph_.reshape(a, {6});
  (void)build::relu(graph_, x_);    // op 1
  (void)build::relu(graph_, flat);  // op 2
  (void)build::relu(graph_, x_);    // op 3
  expect(a, 0, 2);
  expect(flat, 0, 2);
}

TEST_F(Lifetimes, AKeptViewKeepsItsStorage) {
  const ValueId a = build::relu(graph_, x_);
  graph_.keep(graph_.reshape(a, {6}), "flat");
  (void)build::relu(graph_, x_);
  expect(a, 0, 1);
}

}  // namespace
}  // namespace stepscope
