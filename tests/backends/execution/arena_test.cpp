// Arenas of real backends: with what their kernels need, plans stay close to a bound that other
// code computes, and no value is lost on paper.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "backends/api/host.h"
#include "backends/registry/registry.h"
#include "graph/passes/fusion.h"
#include "ops/models/model.h"
#include "tests/backends/execution/rig.h"
#include "tests/support/backends.h"
#include "tests/support/plan_check.h"

namespace stepscope {
namespace {

struct Planned {
  std::string backend;
  std::string model;
  std::int64_t batch = 0;
  std::string fusion;  // for parse_fusion
};

std::vector<Planned> runs() {
  std::vector<Planned> all;
  for (const std::string model : {"mlp", "small_cnn", "lenet"}) {
    for (const std::string& backend :
         test::backends_that_run(Registry::builtin(), make_model(model))) {
      for (const std::int64_t batch : {1, 32, 1024}) {
        for (const std::string fusion : {"off", "on"})
          all.push_back({backend, model, batch, fusion});
      }
    }
  }
  return all;
}

double ratio(std::size_t a, std::size_t b) {
  return b == 0 ? 1.0 : static_cast<double>(a) / static_cast<double>(b);
}

std::size_t rounded(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

// What a coarser alignment than the host's adds at most to what lies in the arena: a step of small
// values is mostly that. None on the host.
double rounding(const Plan& plan) {
  std::size_t bytes = 0;
  const auto add = [&](const Slot& slot) {
    bytes += rounded(slot.bytes, plan.alignment) - rounded(slot.bytes, kHostAlignment);
  };
  for (const Slot& slot : plan.slots) {
    if (slot.segment != Segment::model) add(slot);
  }
  for (const Slot& slot : plan.scratch) add(slot);
  return static_cast<double>(bytes);
}

class Arena : public testing::TestWithParam<Planned> {
 protected:
  Graph rewritten() const {
    const Graph described = make_model(GetParam().model).step(GetParam().batch);
    return run_passes(described, passes_for(parse_fusion(GetParam().fusion), backend_->wishes()))
        .graph;
  }

  const std::unique_ptr<Backend> backend_ =
      Registry::builtin().make(GetParam().backend, {.threads = 1});
};

TEST_P(Arena, StaysWithinATenthOfTheBound) {
  const Graph graph = rewritten();
  for (const InPlace in_place : {InPlace::off, InPlace::on}) {
    const test::Rig rig(*backend_, graph, in_place);
    const Plan& plan = rig.program()->plan;
    std::vector<Needs> needs;
    needs.reserve(rig.program()->kernels.size());
    for (const Kernel* kernel : rig.program()->kernels) needs.push_back(kernel->needs());
    EXPECT_EQ(test::first_fault(plan, needs), "");
    EXPECT_EQ(plan.bytes.bound, test::bound_of(plan, needs));
    EXPECT_LE(static_cast<double>(plan.bytes.arena),
              1.10 * static_cast<double>(plan.bytes.bound) + rounding(plan));
    if (in_place == InPlace::off) continue;
    RecordProperty("arena", std::to_string(plan.bytes.arena));
    RecordProperty("bound", std::to_string(plan.bytes.bound));
    RecordProperty("no_reuse", std::to_string(plan.bytes.no_reuse));
    const bool large_cnn = GetParam().model != "mlp" && GetParam().batch == 1024;
    if (large_cnn && GetParam().fusion == "off") {
      EXPECT_GE(ratio(plan.bytes.no_reuse, plan.bytes.arena), 1.5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Arena, testing::ValuesIn(runs()), [](const auto& made) {
  const Planned& run = made.param;
  return test::case_name(fmt::format("{}_{}_B{}{}", run.backend, run.model, run.batch,
                                     run.fusion == "on" ? "_fused" : ""));
});

}  // namespace
}  // namespace stepscope
