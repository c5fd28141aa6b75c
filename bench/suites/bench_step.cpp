// bench_step: whole training steps, in each mode, with and without fusion, by batch size.
//
// Names: step/MODEL/BACKEND/MODE/fused|unfused/batch:N. Time is that of one step, from throughput
// blocks as `stepscope compare` makes them. docs/benchmarks.md says what the counters are.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "bench/suites/suite.h"
#include "bench/suites/timed_arm.h"

namespace stepscope::suites {
namespace {

void add(Suite& suite, const ArmKey& key, std::string_view fusion) {
  const std::string name = fmt::format("step/{}/{}/{}/{}/batch:{}", key.model, key.backend,
                                       stepscope::name(key.mode), fusion, key.batch);
  suite.add(name, [&suite, key, name](benchmark::State& state) {
    suite.prepared<TimedArm>(name, [&] { return std::make_unique<TimedArm>(suite, key); })
        .run(state);
  });
}

void add_all(Suite& suite) {
  for (const std::string& model : suite.flags().models) {
    for (const std::string& backend : suite.flags().backends) {
      for (const std::int64_t batch : suite.flags().batches) {
        for (const FusionName& fusion : kFusions) {
          for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
            add(suite, {model, backend, mode, std::string(fusion.choice), batch}, fusion.name);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace stepscope::suites

int main(int argc, char** argv) {
  using namespace stepscope::suites;
  return run_program({.name = "bench_step",
                      .what = "Whole training steps: eager, planned and graph, fused or not.",
                      .names = "step/MODEL/BACKEND/eager|planned|graph/fused|unfused/batch:N",
                      .usual = {.models = {"mlp", "small_cnn", "lenet"},
                                .backends = {"usual"},
                                .batches = {1, 32, 256}},
                      .counters = {"arithmetic_share", "bandwidth_share"},
                      .protocol = throughput_protocol()},
                     argc, argv, add_all);
}
