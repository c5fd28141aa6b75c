// The schedule: updates right behind their gradients, and every dependency kept.
// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/schedule.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "graph/passes/pass.h"
#include "ops/ir/copy.h"
#include "ops/ir/op_def.h"
#include "ops/models/model.h"
#include "tests/support/random_step.h"

namespace stepscope {
namespace {

using test::mix;
using Order = std::vector<std::size_t>;

bool overwrites(const Graph& graph, const Op& op) {
  return std::any_of(op.outputs.begin(), op.outputs.end(),
                     [&](ValueId id) { return graph.value(id).sharing == Sharing::overwrite; });
}

// What an op of a training step is about, for people.
std::string told(const Graph& graph, const Op& op) {
  std::string text(name(op.kind));
  for (const ValueId id : op.inputs) {
    const Value& value = graph.value(graph.storage(id));
    if (value.role == Role::parameter) text += fmt::format(" {}", value.name);
  }
  return text;
}

std::vector<std::string> told(const Graph& graph) {
  std::vector<std::string> all;
  for (const Op& op : graph.ops()) all.push_back(told(graph, op));
  return all;
}

Graph scheduled(const Graph& graph) { return reordered(graph, schedule(graph)); }

TEST(Schedule, MlpUpdatesStandRightBehindTheirGradients) {
  const Graph graph = scheduled(simplify(make_model("mlp:4-3-2").step(2)));
  EXPECT_EQ(told(graph),
            (std::vector<std::string>{"MatMul w1", "AddBias b1", "Relu", "MatMul w2",
                                      "AddBias b2",                                      // forward
                                      "SoftmaxCrossEntropy", "SoftmaxCrossEntropyGrad",  // loss
                                      "ReduceSum", "SgdUpdate b2",                       // db2
                                      "MatMul w2",  // dA1 reads the old w2 before its update
                                      "MatMul", "SgdUpdate w2",                 // dW2
                                      "ReluGrad", "ReduceSum", "SgdUpdate b1",  // db1
                                      "MatMul", "SgdUpdate w1"}));  // dW1; counts the step
  EXPECT_EQ(graph.storage(graph.ops().back().outputs[1]), *graph.find(kStepCount));
}

TEST(Schedule, AdamReadsTheStepCountBeforeItsLastUpdateAdvancesIt) {
  const Graph graph =
      scheduled(make_model("mlp:4-3-2", {.kind = OptimizerSpec::Kind::adam}).step(2));
  const ValueId counter = *graph.find(kStepCount);
  std::size_t readers = 0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    const auto is_counter = [&](ValueId id) { return graph.storage(id) == counter; };
    readers +=
        static_cast<std::size_t>(std::count_if(op.inputs.begin(), op.inputs.end(), is_counter));
    const bool counts = std::any_of(op.outputs.begin(), op.outputs.end(), is_counter);
    EXPECT_EQ(counts, i + 1 == graph.ops().size());
  }
  EXPECT_EQ(readers, 4U);
}

class ScheduleTest : public testing::Test {
 protected:
  // Index of the op that makes `id`, after scheduling.
  std::size_t place(ValueId id) const {
    const Order order = schedule(graph_);
    const auto maker = static_cast<std::size_t>(graph_.value(id).producer);
    return static_cast<std::size_t>(std::find(order.begin(), order.end(), maker) - order.begin());
  }
  ValueId update(ValueId parameter, ValueId gradient) {
    return graph_.apply1(OpKind::SgdUpdate, {parameter, gradient, rate_}, SgdAttrs{});
  }

  const TensorType type_{{4}, DType::f32};
  Graph graph_;
  ValueId x_ = graph_.declare(Role::input, type_, "x");
  ValueId w_ = graph_.declare(Role::parameter, type_, "w");
  ValueId v_ = graph_.declare(Role::parameter, type_, "v");
  ValueId rate_ = graph_.declare(Role::state, {Shape{}, DType::f32}, "rate");
};

TEST_F(ScheduleTest, AReaderOfTheOldValueHoldsAnUpdateBack) {
  const ValueId gradient = mix(graph_, {x_}, type_);   // 0
  const ValueId reader = mix(graph_, {w_}, type_);     // 1
  const ValueId other = mix(graph_, {reader}, type_);  // 2
  const ValueId updated = update(w_, gradient);        // 3
  EXPECT_EQ(place(gradient), 0U);
  EXPECT_EQ(place(reader), 1U);
  EXPECT_EQ(place(updated), 2U);
  EXPECT_EQ(place(other), 3U);
}

TEST_F(ScheduleTest, AReaderThroughAViewHoldsItBackToo) {
  const ValueId gradient = mix(graph_, {x_}, type_);
  const ValueId reader = mix(graph_, {graph_.reshape(w_, {2, 2})}, type_);
  const ValueId updated = update(w_, gradient);
  EXPECT_LT(place(reader), place(updated));
}

TEST_F(ScheduleTest, OtherReadersOfAGradientDoNot) {
  const ValueId gradient = mix(graph_, {x_}, type_);
  const ValueId reader = mix(graph_, {gradient}, type_);
  const ValueId updated = update(w_, gradient);
  EXPECT_LT(place(updated), place(reader));
}

TEST_F(ScheduleTest, TheUpdateThatCountsTheStepStaysLast) {
  const ValueId counter =
      graph_.declare(Role::state, {Shape{}, DType::i32}, std::string(kStepCount));
  const ValueId early = mix(graph_, {x_}, type_);  // 0
  const ValueId late = mix(graph_, {x_}, type_);   // 1
  const ValueId new_v = update(v_, late);          // 2
  const ValueId new_w =
      graph_.apply(OpKind::SgdUpdate, {w_, early, rate_, counter}, SgdAttrs{true})[0];  // 3
  EXPECT_EQ(place(new_v), 2U);
  EXPECT_EQ(place(new_w), 3U);
}

TEST_F(ScheduleTest, AnUpdateThatReadsAnUpdatedValueStaysBehindIt) {
  const ValueId gradient = mix(graph_, {x_}, type_);  // 0
  (void)mix(graph_, {x_}, type_);                     // 1
  const ValueId new_w = update(w_, gradient);         // 2
  const ValueId new_v = update(v_, new_w);            // 3
  EXPECT_EQ(place(new_w), 1U);
  EXPECT_EQ(place(new_v), 2U);
}

TEST_F(ScheduleTest, AnUpdateThatReadsAnOldValueStaysAheadOfItsUpdate) {
  const ValueId gradient = mix(graph_, {x_}, type_);  // 0
  const ValueId late = mix(graph_, {x_}, type_);      // 1
  const ValueId new_v = update(v_, w_);               // 2: reads the old w
  const ValueId new_w = update(w_, late);             // 3
  EXPECT_EQ(place(new_v), 0U) << "nothing it needs is made by an op";
  EXPECT_EQ(place(gradient), 1U);
  EXPECT_EQ(place(new_w), 3U);
}

TEST_F(ScheduleTest, StatefulUpdatesStayWhereTheyWerePut) {
  static const OpKind kDraw =
      add_op({.name = "TestDraw",
              .infer = [](std::span<const TensorType> in, const Attrs&,
                          TypeList& out) { out.push_back(in[0]); },
              .work = [](std::span<const TensorType>, std::span<const TensorType>,
                         const Attrs&) { return Work{}; },
              .overwrites = [](const Attrs&, std::size_t, std::size_t) { return 0; },
              .stateful = true});
  (void)mix(graph_, {x_}, type_);
  (void)mix(graph_, {x_}, type_);
  const ValueId drawn = graph_.apply1(kDraw, {v_});
  EXPECT_EQ(place(drawn), 2U);
}

// ---- Random steps, against the definition of a dependency.

// Must `later` stay behind `earlier`? Equal storages count, whatever the view.
bool depends(const Graph& graph, const Op& earlier, const Op& later) {
  const auto meet = [&](const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
    return std::any_of(a.begin(), a.end(), [&](ValueId one) {
      return std::any_of(b.begin(), b.end(),
                         [&](ValueId other) { return graph.storage(one) == graph.storage(other); });
    });
  };
  return meet(earlier.outputs, later.inputs) || meet(earlier.inputs, later.outputs) ||
         meet(earlier.outputs, later.outputs);
}

struct RandomSchedule {
  explicit RandomSchedule(std::uint64_t seed) : graph(*test::random_step(seed).graph) {}
  const Op& op(std::size_t place) const { return graph.ops()[order[place]]; }

  const Graph graph;
  const Order order = schedule(graph);
};

constexpr std::uint64_t kSeeds = 200;

TEST(RandomSchedules, KeepEveryDependency) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const RandomSchedule random(seed);
    Order sorted = random.order;
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < sorted.size(); ++i) ASSERT_EQ(sorted[i], i) << "a permutation";
    for (std::size_t i = 0; i < random.order.size(); ++i) {
      for (std::size_t j = i + 1; j < random.order.size(); ++j) {
        if (random.order[j] > random.order[i]) continue;
        EXPECT_FALSE(depends(random.graph, random.op(j), random.op(i)));
        EXPECT_TRUE(overwrites(random.graph, random.op(i))) << "only updates move";
      }
    }
  }
}

// Whatever stands ahead of an update, back to the first op that is none, holds it there.
TEST(RandomSchedules, MoveUpdatesAsFarAsTheyGo) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const RandomSchedule random(seed);
    for (std::size_t i = 0; i < random.order.size(); ++i) {
      if (!overwrites(random.graph, random.op(i))) continue;
      bool held = false;
      bool updates_alone = true;
      for (std::size_t j = i; j-- > 0 && !held && updates_alone;) {
        held = depends(random.graph, random.op(j), random.op(i));
        updates_alone = overwrites(random.graph, random.op(j));
      }
      EXPECT_TRUE(held || updates_alone) << "op " << random.order[i] << " at " << i;
    }
  }
}

TEST(RandomSchedules, LeaveALawfulGraph) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const RandomSchedule random(seed);
    const Graph result = reordered(random.graph, random.order);  // verifies
    EXPECT_EQ(result.ops().size(), random.graph.ops().size());
  }
}

}  // namespace
}  // namespace stepscope
