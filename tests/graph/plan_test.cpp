// Memory plans: sizes that kernels ask for, segments, sharing in place, deaths, refusals.
// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/plan.h"

#include <gtest/gtest.h>

#include <array>

#include "ops/ir/build.h"
#include "ops/models/model.h"
#include "tests/support/errors.h"
#include "tests/support/plan_check.h"
#include "tests/support/random_step.h"

namespace stepscope {
namespace {

using test::error_of;
using test::mix;
using test::plan_of;
using test::Step;
using test::step_of;

TensorType floats(std::int64_t count) { return {{count}, DType::f32}; }

class PlanTest : public testing::Test {
 protected:
  Plan plan(const PlanOptions& options = {}) { return plan_of(step_of(graph_), options); }
  const Slot& slot(const Plan& plan, ValueId id) const {
    return plan.slots[static_cast<std::size_t>(id.index)];
  }
  // Does `id` lie over `other`, in place?
  bool over(const Plan& plan, ValueId id, ValueId other) const {
    const auto memory = [&](ValueId v) {
      return plan.memory_of[static_cast<std::size_t>(v.index)];
    };
    if (memory(id) != memory(other)) return false;
    EXPECT_EQ(slot(plan, id).offset, slot(plan, other).offset);
    return true;
  }

  Graph graph_;
  ValueId x_ = graph_.declare(Role::input, floats(100), "x");
};

// ---- Sizes: what kernels ask for.

TEST_F(PlanTest, ScratchLivesDuringItsOpAlone) {
  const ValueId a = mix(graph_, {x_}, floats(100));
  const ValueId b = mix(graph_, {a}, floats(100));
  graph_.keep(b, "b");
  Step step = step_of(graph_, 0);
  step.needs[0].scratch = 1000;
  step.needs[1].scratch = 600;
  const Plan plan = plan_of(step);
  EXPECT_EQ(plan.scratch[0].bytes, 1000U);
  EXPECT_EQ(plan.scratch[1].bytes, 600U);
  EXPECT_EQ(plan.bytes.bound, 1400U) << "op 0: its output and 1000; op 1: two values and 600";
  EXPECT_EQ(plan.bytes.arena, 448U + 448U + 640U) << "the same, rounded up";
  EXPECT_EQ(plan.bytes.no_reuse, 448U + 448U + 1024U + 640U);
}

TEST_F(PlanTest, SavedValuesHaveTheSizeThatTheKernelTells) {
  const auto [y, mask] = test::mix_and_save(graph_, {x_}, floats(100));
  const ValueId z = mix(graph_, {y}, floats(100));
  graph_.keep(mix(graph_, {z, mask}, floats(100)), "out");
  Step step = step_of(graph_);
  step.needs[0].saved = 5000;
  const Plan plan = plan_of(step);
  EXPECT_EQ(slot(plan, mask).bytes, 5000U);
  EXPECT_EQ(plan.bytes.bound, 400U + 5000U) << "y, z and out in place of each other";
  EXPECT_EQ(test::first_fault(plan, step.needs), "");

  step.needs[0].saved = 0;
  EXPECT_EQ(slot(plan_of(step), mask).bytes, 0U) << "a kernel that saves nothing";
}

TEST_F(PlanTest, OutputsMayBeWiderThanDense) {
  const ValueId a = mix(graph_, {x_}, floats(100));
  const ValueId b = mix(graph_, {a}, floats(100));
  graph_.keep(b, "b");
  Step step = step_of(graph_);
  step.needs[0].output_bytes = {640};
  const Plan plan = plan_of(step);
  EXPECT_EQ(slot(plan, a).bytes, 640U);
  EXPECT_EQ(slot(plan, b).bytes, 400U);
  EXPECT_TRUE(over(plan, b, a)) << "a dense value fits over a wide one";

  step.needs[0].output_bytes = {};
  step.needs[1].output_bytes = {640};
  EXPECT_FALSE(over(plan_of(step), b, a)) << "a wide value does not fit over a dense one";
}

// ---- Segments.

TEST_F(PlanTest, DeclaredValuesLieWhereTheLayoutHasThem) {
  const ValueId w = graph_.declare(Role::parameter, floats(100), "w");
  const ValueId rate = graph_.declare(Role::state, {Shape{}, DType::f32}, "rate");
  const ValueId g = mix(graph_, {x_}, floats(100));
  const ValueId updated = graph_.apply1(OpKind::SgdUpdate, {w, g, rate}, SgdAttrs{});
  const ValueId view = graph_.reshape(updated, {10, 10});
  const Plan plan = this->plan();
  EXPECT_EQ(slot(plan, x_), (Slot{Segment::model, 0, 400}));
  EXPECT_EQ(slot(plan, w), (Slot{Segment::model, 448, 400}));
  EXPECT_EQ(slot(plan, updated), slot(plan, w)) << "an update is written where the old value lies";
  EXPECT_EQ(slot(plan, view), slot(plan, w));
  EXPECT_EQ(plan.memory_of[static_cast<std::size_t>(view.index)], w);
  EXPECT_EQ(slot(plan, g).segment, Segment::arena);
  EXPECT_EQ(plan.bytes.arena, 448U) << "the model segment does not count";
}

// The partial batch at the end of an epoch runs in the slots of the full one.
TEST_F(PlanTest, APlanMayNeedLessThanTheLayoutHas) {
  const Model model = make_model("mlp:4-3-2");
  const Graph full = model.step(32);
  const Step partial = step_of(model.step(5));
  const ModelLayout layout(std::array<const Graph*, 2>{&full, partial.graph.get()}, 64);
  const Plan plan = make_plan(partial.graph, partial.needs, layout);
  EXPECT_EQ(slot(plan, *partial.graph->find("x")), (Slot{Segment::model, 0, 80}));
  EXPECT_EQ(slot(plan, *partial.graph->find("w1")).offset, layout.at("w1").offset);
}

TEST(EmptyPlans, AGraphWithoutOps) {
  Graph graph;
  (void)graph.declare(Role::input, floats(3), "x");
  const Plan plan = plan_of(step_of(graph));
  EXPECT_EQ(plan.bytes.arena, 0U);
  EXPECT_EQ(plan.slots.size(), 1U);
}

// ---- In place.

TEST_F(PlanTest, InPlaceOverAnInputThatDies) {
  const ValueId a = mix(graph_, {x_}, floats(100));
  const ValueId b = mix(graph_, {a}, floats(100));
  const ValueId c = mix(graph_, {b}, floats(100));
  graph_.keep(c, "c");
  const Plan plan = this->plan();
  EXPECT_TRUE(over(plan, b, a));
  EXPECT_EQ(plan.memory_of[static_cast<std::size_t>(c.index)], a) << "the first in that memory";
  EXPECT_FALSE(over(plan, a, x_)) << "inputs of the step are not ours to overwrite";
  EXPECT_EQ(plan.bytes.arena, 448U);
  EXPECT_EQ(plan.dies_after, (std::vector<std::vector<ValueId>>{{}, {a}, {b}}))
      << "eager has no sharing";
  EXPECT_FALSE(over(this->plan({.in_place = InPlace::off}), b, a));
}

TEST_F(PlanTest, NotOverAnInputThatIsReadLater) {
  const ValueId a = mix(graph_, {x_}, floats(100));
  const ValueId b = mix(graph_, {a}, floats(100));
  const ValueId c = mix(graph_, {a, b}, floats(100));
  graph_.keep(c, "c");
  const Plan plan = this->plan();
  EXPECT_FALSE(over(plan, b, a));
  EXPECT_TRUE(over(plan, c, a)) << "of two that die, the first";
}

TEST_F(PlanTest, NotOverAnInputThatIsReadLaterThroughAView) {
  const ValueId a = mix(graph_, {x_}, floats(100));
  const ValueId view = graph_.reshape(a, {10, 10});
  const ValueId b = mix(graph_, {a}, floats(100));
  graph_.keep(mix(graph_, {view, b}, floats(50)), "c");
  EXPECT_FALSE(over(plan(), b, a));
}

TEST_F(PlanTest, OverTheStorageOfAView) {
  const ValueId a = mix(graph_, {x_}, floats(100));
  const ValueId b = mix(graph_, {graph_.reshape(a, {10, 10})}, floats(100));
  graph_.keep(b, "b");
  EXPECT_TRUE(over(plan(), b, a));
}

TEST_F(PlanTest, NotOverAKeptValueNorUnderAKeptView) {
  const ValueId a = mix(graph_, {x_}, floats(100));
  const ValueId b = mix(graph_, {a}, floats(100));
  const ValueId c = mix(graph_, {b}, floats(100));
  graph_.keep(a, "a");
  graph_.keep(graph_.reshape(b, {10, 10}), "b");
  graph_.keep(c, "c");
  const Plan plan = this->plan();
  EXPECT_FALSE(over(plan, b, a));
  EXPECT_FALSE(over(plan, c, b));
}

TEST_F(PlanTest, NotOverASmallerInput) {
  const ValueId a = mix(graph_, {x_}, floats(50));
  const ValueId b = mix(graph_, {a}, floats(100));
  const ValueId c = mix(graph_, {b}, floats(20));
  graph_.keep(c, "c");
  const Plan plan = this->plan();
  EXPECT_FALSE(over(plan, b, a));
  EXPECT_TRUE(over(plan, c, b)) << "a larger one will do";
  EXPECT_EQ(slot(plan, c).bytes, 80U);
}

TEST_F(PlanTest, OnlyAsOpAndKernelAllow) {
  const ValueId a = build::relu(graph_, x_);
  const ValueId b = build::relu(graph_, a);
  const ValueId sum = build::reduce_sum(graph_, graph_.reshape(b, {1, 100}), 0);
  graph_.keep(sum, "sum");
  const Plan plan = plan_of(step_of(graph_));
  EXPECT_TRUE(over(plan, b, a));
  EXPECT_FALSE(over(plan, sum, b)) << "ReduceSum does not say that it may";
  EXPECT_FALSE(over(plan_of(step_of(graph_, 0)), b, a)) << "the kernel does not say that it can";
}

TEST_F(PlanTest, OverWhicheverInputIsAllowed) {
  const ValueId a = mix(graph_, {x_}, floats(100));
  const ValueId b = mix(graph_, {x_}, floats(100));
  const ValueId c = build::add(graph_, a, b);
  graph_.keep(c, "c");
  EXPECT_TRUE(over(plan_of(step_of(graph_, 0b10)), c, b));
}

TEST_F(PlanTest, OverAValueThatIsBothInputsOfAPointwiseOp) {
  const ValueId a = mix(graph_, {x_}, floats(100));
  const ValueId square = build::mul(graph_, a, a);
  graph_.keep(square, "square");
  EXPECT_TRUE(over(plan(), square, a));
}

// With one row a bias may be a view of what it is added to: AddBias says nothing of that operand.
TEST_F(PlanTest, NotOverAValueThatIsReadThroughAnOperandNotInPlace) {
  const ValueId a = mix(graph_, {x_}, {{1, 100}, DType::f32});
  const ValueId sum = build::add_bias(graph_, a, graph_.reshape(a, {100}));
  graph_.keep(sum, "sum");
  EXPECT_FALSE(over(plan(), sum, a));
}

// ---- Deaths.

TEST_F(PlanTest, ValuesDieAfterTheirLastReader) {
  const ValueId a = mix(graph_, {x_}, floats(1));      // op 0
  const ValueId b = mix(graph_, {a}, floats(1));       // op 1
  const ValueId unread = mix(graph_, {a}, floats(1));  // op 2
  const ValueId view = graph_.reshape(b, {1, 1});
  const ValueId kept = mix(graph_, {x_}, floats(1));  // op 3
  graph_.keep(kept, "kept");
  graph_.keep(graph_.reshape(mix(graph_, {view}, floats(1)), {1, 1}), "view");  // op 4
  (void)mix(graph_, {x_}, floats(1));                                           // op 5
  const ValueId last = ValueId{static_cast<std::int32_t>(graph_.values().size()) - 1};
  EXPECT_EQ(plan().dies_after,
            (std::vector<std::vector<ValueId>>{{}, {}, {a, unread}, {}, {b}, {last}}));
}

// ---- What may not be.

TEST_F(PlanTest, Refusals) {
  (void)mix(graph_, {x_}, floats(100));
  const Step step = step_of(graph_);
  const Graph* graph = step.graph.get();
  const ModelLayout layout({&graph, 1}, 64);
  const auto error = [&](std::vector<Needs> needs, const ModelLayout& where,
                         std::size_t alignment) {
    return error_of([&] { (void)make_plan(step.graph, needs, where, {.alignment = alignment}); });
  };
  EXPECT_EQ(error({}, layout, 64), "bad graph: make_plan: 1 ops, needs of 0");
  EXPECT_EQ(error({{}}, layout, 96),
            "bad graph: make_plan: the alignment must be a power of two, got 96");
  EXPECT_EQ(error({{.output_bytes = {400, 400}}}, layout, 64),
            "bad graph: make_plan: op 0 (TestMixing) has 1 outputs, needs name the bytes of 2");
  EXPECT_EQ(error({{.output_bytes = {399}}}, layout, 64),
            "bad graph: make_plan: op 0 (TestMixing) asks 399 bytes for output 0, a dense one has "
            "400");
  EXPECT_EQ(error({{}}, ModelLayout({}, 64), 64), "bad graph: model layout: there is no 'x' in it");
  EXPECT_EQ(error_of([&] { (void)make_plan(nullptr, {}, layout); }),
            "bad graph: make_plan: there is no graph");
}

TEST_F(PlanTest, RefusesALayoutOfAnotherGraph) {
  (void)mix(graph_, {x_}, floats(100));
  const Step step = step_of(graph_);
  Graph other;
  (void)other.declare(Role::input, floats(3), "padding");
  (void)other.declare(Role::input, floats(99), "x");
  const Graph* declared = &other;
  const auto error = [&](std::size_t alignment) {
    const ModelLayout layout({&declared, 1}, alignment);
    return error_of([&] { (void)make_plan(step.graph, step.needs, layout); });
  };
  EXPECT_EQ(
      error(64),
      "bad graph: make_plan: input 'x' needs 400 bytes, the model layout has input 'x' of 396");
  Graph wide;
  (void)wide.declare(Role::input, floats(3), "padding");
  (void)wide.declare(Role::input, floats(100), "x");
  declared = &wide;
  EXPECT_EQ(error(32),
            "bad graph: make_plan: 'x' lies at 32 in the model layout, no multiple of 64");
}

}  // namespace
}  // namespace stepscope
