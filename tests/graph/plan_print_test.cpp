// The printed plan.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

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
  test::expect_golden("plan/mlp-4-3-2.txt", to_text(test::plan_of(step)));
}

TEST(PlanText, AGraphWithoutOps) {
  test::expect_golden("plan/empty.txt",
                      to_text(test::plan_of({std::make_shared<const Graph>(), {}})));
}

}  // namespace
}  // namespace stepscope
