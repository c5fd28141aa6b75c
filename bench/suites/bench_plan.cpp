// bench_plan: what is paid once for a graph: compiling (passes, lowering, plan, binding),
// recording, and the first replay.
//
// Names: plan/MODEL/BACKEND/compile|record|first_replay/fused|unfused/batch:N. Every iteration
// makes a session anew, in a process where the backend is warm: what its first session pays alone
// is in none of them.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>

#include "bench/suites/suite.h"
#include "bench/suites/timed_arm.h"
#include "ops/base/check.h"

namespace stepscope::suites {
namespace {

constexpr std::int64_t kPlans = 30;  // in each repetition

struct Part {
  std::string_view name;
  std::optional<std::int64_t> OneOffRecord::*cost;
};
constexpr std::array<Part, 3> kParts = {{{"compile", &OneOffRecord::compile_ns},
                                         {"record", &OneOffRecord::capture_ns},
                                         {"first_replay", &OneOffRecord::first_step_ns}}};

class Plans final : public Prepared {
 public:
  Plans(Suite& suite, const ArmKey& key)
      : suite_(suite), key_(key), ground_(suite, key), arm_(make()) {
    count_step(arm_, key.batch, ground_.ring);
  }

  void run(benchmark::State& state, const Part& part) {
    while (state.KeepRunning()) {
      OneOffRecord costs = make().record.one_off.front();
      const std::optional<std::int64_t> cost = costs.*part.cost;
      check(cost.has_value(), Fault::device, "plan: {} has no time for {}", arm_.record.name,
            part.name);
      state.SetIterationTime(static_cast<double>(*cost) / kNsPerSecond);
      arm_.record.one_off.push_back(std::move(costs));
    }
    set_label(state, arm_.record);
    set_counts(state, arm_.record);
    state.counters["nodes"] = static_cast<double>(arm_.record.counts.nodes_executed);
  }

  void finish() override {
    const std::string& model = ground_.spec.model.name;
    suite_.keep(model, key_.backend, ground_.backend->info());
    suite_.keep(model, std::move(arm_.record));
  }

 private:
  Arm make() {
    Arm arm = make_arm(ground_.spec, *ground_.backend, {key_.mode, parse_fusion(key_.fusion)},
                       key_.batch, ground_.ring);
    first_step(arm, key_.batch, ground_.ring, suite_.timer());
    return arm;
  }

  Suite& suite_;
  ArmKey key_;
  ArmGround ground_;
  Arm arm_;  // its record has the costs of all
};

void add(Suite& suite, const ArmKey& key, const Part& part, std::string_view fusion) {
  const std::string name = fmt::format("plan/{}/{}/{}/{}/batch:{}", key.model, key.backend,
                                       part.name, fusion, key.batch);
  const std::string plan = fmt::format("{}/{}/{}/{}", key.model, key.backend, fusion, key.batch);
  suite.add(name,
            [&suite, key, part, plan](benchmark::State& state) {
              suite.prepared<Plans>(plan, [&] { return std::make_unique<Plans>(suite, key); })
                  .run(state, part);
            },
            {.iterations = kPlans});
}

void add_all(Suite& suite) {
  for (const std::string& model : suite.flags().models) {
    for (const std::string& backend : suite.flags().backends) {
      for (const std::int64_t batch : suite.flags().batches) {
        for (const FusionName& fusion : kFusions) {
          for (const Part& part : kParts) {
            add(suite, {model, backend, Mode::graph, std::string(fusion.choice), batch}, part,
                fusion.name);
          }
        }
      }
    }
  }
}

Facts protocol() {
  return {{"method", "one-off costs of sessions that are made one after the other"},
          {"start", "a backend that has made such a plan before"},
          {"plans", fmt::format("{} in each repetition of each benchmark", kPlans)}};
}

}  // namespace
}  // namespace stepscope::suites

int main(int argc, char** argv) {
  using namespace stepscope::suites;
  return run_program(
      {.name = "bench_plan",
       .what = "What is paid once: compiling, recording, the first replay.",
       .names = "plan/MODEL/BACKEND/compile|record|first_replay/fused|unfused/"
                "batch:N",
       .usual = {.models = {"mlp", "small_cnn", "lenet"}, .backends = {"usual"}, .batches = {32}},
       .protocol = protocol()},
      argc, argv, add_all);
}
