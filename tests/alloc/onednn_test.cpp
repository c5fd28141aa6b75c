// oneDNN allocates within its own calls; how often is exact, and nothing of ours comes on top.
// Objects of the library are made when ops are lowered, never in a steady step.
// SPDX-License-Identifier: Apache-2.0
#include "backends/onednn/onednn.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/alloc/steady.h"

namespace stepscope::alloc {
namespace {

std::vector<Steady> runs() {
  std::vector<Steady> all;
  for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
    for (const Workload& workload : kWorkloads) {
      for (const std::string fusion : {"off", "on"}) {
        all.push_back({"onednn", mode, workload, fusion});
      }
    }
  }
  return all;
}

class SteadyOneDnnStep : public testing::TestWithParam<Steady> {};

TEST_P(SteadyOneDnnStep, AllocatesNothingOfOurs) {
  const Steady& run = GetParam();
  const auto backend = onednn::make_backend({.threads = 1});
  Session session(*backend, make_model(run.workload.model), options_for(run, *backend));
  const Measured first = measure(session, run.workload.batch);
  const std::uint64_t library = first.count.all_threads;
  const std::string summary = summary_of(first.count);
  EXPECT_EQ(own(first.count), 0U) << text_of(first.count);
  EXPECT_EQ(executed_mode(first.counters), run.mode);

  const std::uint64_t made = onednn::primitives_made(*backend);
  const Measured second = measure(session, run.workload.batch);
  EXPECT_EQ(onednn::primitives_made(*backend), made) << "a steady step makes no primitive";
  EXPECT_EQ(second.count.all_threads, library) << summary << "\n" << summary_of(second.count);
  EXPECT_EQ(library % kSteps, 0U) << "not the same in each step";
  EXPECT_EQ(second.count.frees, second.count.all_threads);
  fmt::print("{}: {} a step, {} library calls a step\n", name_of(run), library / kSteps,
             first.counters.library_calls / kSteps);
}

INSTANTIATE_TEST_SUITE_P(All, SteadyOneDnnStep, testing::ValuesIn(runs()),
                         [](const auto& made) { return name_of(made.param); });

}  // namespace
}  // namespace stepscope::alloc
