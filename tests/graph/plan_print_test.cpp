// The printed plan.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "graph/passes/pass.h"
#include "graph/plan/plan.h"
#include "ops/models/model.h"
#include "tests/support/golden.h"
#include "tests/support/random_step.h"

namespace stepscope {
namespace {

TEST(PlanText, Mlp) {
  const Graph graph = run_passes(make_model("mlp:4-3-2").step(200), standard_passes()).graph;
  test::Step step = test::step_of(graph);
  step.needs[0].scratch = 4096;  // as a library's product might ask
  const Plan plan = test::plan_of(step);
  const std::string text = to_text(plan);
  test::expect_golden("plan/mlp-4-3-2.txt", text);
  // What the file holds is what the plan holds: every slot of the arena, at its offset.
  std::size_t shown = 0;
  for (const ValueId id : graph.ids()) {
    const Value& value = graph.value(id);
    if (value.sharing != Sharing::own || value.producer < 0) continue;
    const Slot& slot = plan.slots[static_cast<std::size_t>(id.index)];
    EXPECT_NE(text.find(fmt::format("{} a:{}", graph.label(id), slot.offset)), std::string::npos)
        << graph.label(id) << " at " << slot.offset << "\n"
        << text;
    ++shown;
  }
  EXPECT_GT(shown, 10U);
}

TEST(PlanText, AGraphWithoutOps) {
  const std::string text = to_text(test::plan_of({std::make_shared<const Graph>(), {}}));
  test::expect_golden("plan/empty.txt", text);
  EXPECT_TRUE(text.starts_with("0 ops; ")) << text;
}

}  // namespace
}  // namespace stepscope
