// Heap allocations of a steady step: none of ours in any mode, none at all on backends whose
// library makes none at one thread.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "backends/api/host.h"
#include "backends/registry/registry.h"
#include "ops/ir/op_def.h"
#include "tests/alloc/steady.h"

namespace stepscope::alloc {
namespace {

std::vector<Steady> runs() {
  std::vector<Steady> all;
  for (const std::string& backend : Registry::builtin().available()) {
    // Their libraries allocate: onednn_test.cpp says how much; CUDA's runtime is not ours to count.
    if (backend == "onednn" || backend == "cuda") continue;
    for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
      for (const Workload& workload : kWorkloads) {
        for (const std::string fusion : {"off", "on"}) {
          all.push_back({backend, mode, workload, fusion});
        }
      }
    }
  }
  return all;
}

class SteadyStep : public testing::TestWithParam<Steady> {};

TEST_P(SteadyStep, AllocatesNothing) {
  const Steady& run = GetParam();
  const auto backend = Registry::builtin().make(run.backend, {.threads = 1});
  Session session(*backend, make_model(run.workload.model), options_for(run, *backend));
  const Measured measured = measure(session, run.workload.batch);
  EXPECT_EQ(measured.count.all_threads, 0U) << text_of(measured.count);
  EXPECT_EQ(measured.counters.lookups, run.mode == Mode::eager ? measured.ops * kSteps : 0);
  EXPECT_EQ(executed_mode(measured.counters), run.mode);
}

INSTANTIATE_TEST_SUITE_P(All, SteadyStep, testing::ValuesIn(runs()),
                         [](const auto& made) { return name_of(made.param); });

// What eager saves by its cache: the naive row of a comparison makes every kernel anew.
TEST(EagerWithoutCache, Allocates) {
  for (const std::string& backend_name : Registry::builtin().available()) {
    const auto backend = Registry::builtin().make(backend_name, {.threads = 1});
    SessionOptions options{.mode = Mode::eager, .step_batches = {1}, .evaluation_batches = {}};
    options.executor.eager_cache = EagerCache::off;
    Session session(*backend, make_model("chain:50"), options);
    const Measured measured = measure(session, 1);
    EXPECT_GE(measured.count.all_threads, measured.ops * kSteps);  // a kernel is an allocation
    EXPECT_EQ(measured.counters.lookups, measured.ops * kSteps);
    fmt::print("{}: eager without cache, {} ops: {} allocations a step\n", backend_name,
               measured.ops, measured.count.all_threads / kSteps);
    RecordProperty(backend_name, static_cast<int>(measured.count.all_threads / kSteps));
  }
}

// With a team, Eigen takes the operand its threads share from the heap: the library's, and printed.
TEST(TwoThreads, AllocateNothingOfOurs) {
  const std::vector<std::string> names = Registry::builtin().names();
  if (std::find(names.begin(), names.end(), "eigen") == names.end()) {
    GTEST_SKIP() << "no backend eigen in this build";
  }
  const auto backend = Registry::builtin().make("eigen", {.threads = 2});
  for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
    for (const Workload& workload : kWorkloads) {
      Session session(*backend, make_model(workload.model),
                      options_for({"eigen", mode, workload}, *backend));
      const Measured measured = measure(session, workload.batch);
      EXPECT_EQ(own(measured.count), 0U) << text_of(measured.count);
      fmt::print("eigen, 2 threads, {}, {} B={}: {}\n", name(mode), workload.model, workload.batch,
                 summary_of(measured.count));
    }
  }
}

// An op from outside the tree whose kernel allocates once a launch.
void infer_leaky(std::span<const TensorType> in, const Attrs&, TypeList& out) {
  out.push_back(in[0]);
}

Work work_leaky(std::span<const TensorType>, std::span<const TensorType>, const Attrs&) {
  return {};
}

[[gnu::noinline]] void launch_leaky(const Launch& call, Stream& stream) {
  stream.made_call(call, CallBy::own);
  void* volatile block = std::malloc(100);
  std::free(block);
}

class LeakyKernel final : public Kernel {
 public:
  explicit LeakyKernel(const OpSite& site) : Kernel(site, {}, launch_leaky) {}
};

TEST(PlantedAllocation, IsFoundAndNamed) {
  const OpKind leaky = add_op({.name = "PlantedLeaky", .infer = infer_leaky, .work = work_leaky});
  const auto backend = Registry::builtin().make("reference", {});
  dynamic_cast<HostBackend&>(*backend).set_maker(leaky, [](const OpSite& site) {
    return std::unique_ptr<Kernel>(std::make_unique<LeakyKernel>(site));
  });
  const Model model{
      .name = "leaky",
      .step =
          [leaky](std::int64_t batch) {
            Graph graph;
            const ValueId x = graph.declare(Role::input, {{batch, 4}, DType::f32}, "x");
            graph.keep(graph.apply1(leaky, {x}), "out");
            return graph;
          },
      .evaluation = {},
      .initial = {},
      .features = 4,
      .classes = 0};
  for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
    SCOPED_TRACE(name(mode));
    Session session(*backend, model, options_for({"reference", mode, {"leaky", 1}}, *backend));
    const Measured measured = measure(session, 1);
    EXPECT_EQ(measured.count.all_threads, kSteps);
    EXPECT_EQ(measured.count.frees, kSteps);
    ASSERT_EQ(own(measured.count), kSteps);
    const Attribution found = attribute(measured.count.kept.front());
    EXPECT_NE(found.frame.find("launch_leaky"), std::string::npos) << text_of(measured.count);
  }
}

}  // namespace
}  // namespace stepscope::alloc
