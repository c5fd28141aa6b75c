// Hazards: each kind, and all of them against a comparison of every byte range with every other.
// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/hazards.h"

#include <gtest/gtest.h>

#include <ostream>

#include "ops/ir/build.h"
#include "tests/support/random_step.h"

namespace stepscope {

// Found by GoogleTest, for its messages.
void PrintTo(const Edge& edge, std::ostream* out) {
  *out << edge.before << "->" << edge.after << " kind " << static_cast<int>(edge.hazard);
}

namespace {

using test::mix;
using test::plan_of;

bool touch(const Slot& a, const Slot& b) {
  return a.segment == b.segment && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes &&
         a.bytes > 0 && b.bytes > 0;
}

struct Touched {
  std::vector<Slot> read, written;
};

Touched touched_by(const Plan& plan, std::size_t i) {
  Touched all;
  const Op& op = plan.graph->ops()[i];
  for (const ValueId id : op.inputs)
    all.read.push_back(plan.slots[static_cast<std::size_t>(id.index)]);
  for (const ValueId id : op.outputs) {
    all.written.push_back(plan.slots[static_cast<std::size_t>(id.index)]);
  }
  all.written.push_back(plan.scratch[i]);
  return all;
}

bool any_touch(const std::vector<Slot>& a, const std::vector<Slot>& b) {
  for (const Slot& one : a) {
    for (const Slot& other : b) {
      if (touch(one, other)) return true;
    }
  }
  return false;
}

std::vector<Edge> every_pair(const Plan& plan) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < plan.graph->ops().size(); ++i) {
    for (std::size_t j = i + 1; j < plan.graph->ops().size(); ++j) {
      const Touched first = touched_by(plan, i);
      const Touched second = touched_by(plan, j);
      if (any_touch(first.written, second.read)) {
        edges.push_back({i, j, Hazard::read_after_write});
      } else if (any_touch(first.read, second.written)) {
        edges.push_back({i, j, Hazard::write_after_read});
      } else if (any_touch(first.written, second.written)) {
        edges.push_back({i, j, Hazard::write_after_write});
      }
    }
  }
  return edges;
}

TEST(Hazards, EachKind) {
  Graph graph;
  const TensorType type{{4}, DType::f32};
  const ValueId x = graph.declare(Role::input, type, "x");
  const ValueId w = graph.declare(Role::parameter, type, "w");
  const ValueId rate = graph.declare(Role::state, {Shape{}, DType::f32}, "rate");
  const ValueId g = mix(graph, {x}, type);                   // op 0
  const ValueId y = mix(graph, {x, w}, type);                // op 1
  graph.apply(OpKind::SgdUpdate, {w, g, rate}, SgdAttrs{});  // op 2
  graph.keep(y, "y");
  const Plan plan = plan_of({std::make_shared<const Graph>(graph), std::vector<Needs>(3)});
  EXPECT_EQ(hazards(plan), (std::vector<Edge>{{0, 2, Hazard::read_after_write},
                                              {1, 2, Hazard::write_after_read}}));
}

// Two ops that share nothing but the memory of their scratch must not run together.
TEST(Hazards, ScratchIsWritten) {
  Graph graph;
  const TensorType type{{4}, DType::f32};
  const ValueId x = graph.declare(Role::input, type, "x");
  graph.keep(mix(graph, {x}, type), "a");
  graph.keep(mix(graph, {x}, type), "b");
  const Plan plan = plan_of(
      {std::make_shared<const Graph>(graph), {Needs{.scratch = 100}, Needs{.scratch = 50}}});
  EXPECT_EQ(hazards(plan), (std::vector<Edge>{{0, 1, Hazard::write_after_write}}));
}

TEST(Hazards, RandomStepsAgainstEveryPair) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Plan plan = plan_of(test::random_step(seed), {.search_rounds = 20});
    EXPECT_EQ(hazards(plan), every_pair(plan)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace stepscope
