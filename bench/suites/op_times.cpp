// op_times: where the time of one planned step goes, op by op, as medians. Stamps around each
// launch disturb what they measure (about 50 ns each), so this explains a step and is no time of
// one.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/execution/session.h"
#include "backends/registry/registry.h"
#include "bench/measure/clock.h"
#include "bench/measure/statistics.h"
#include "bench/suites/step_launches.h"
#include "graph/passes/fusion.h"
#include "ops/base/check.h"

namespace stepscope::suites {
namespace {

constexpr int kSteps = 200;
constexpr int kStepsFromOneStart = 20;  // so that training does not run away

std::vector<std::vector<double>> time_ops(Session& session, const StepLaunches& launches) {
  std::vector<std::vector<double>> nanoseconds(launches.size());
  const std::vector<std::byte> start = session.memory().snapshot(session.stream());
  for (int step = 0; step < kSteps; ++step) {
    if (step % kStepsFromOneStart == 0) session.memory().restore(session.stream(), start);
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const Stamp begin = now();
      launches.submit(session.stream(), i);
      session.stream().wait();
      nanoseconds[i].push_back(std::chrono::duration<double, std::nano>(now() - begin).count());
    }
  }
  return nanoseconds;
}

void print(const Graph& graph, const std::vector<std::vector<double>>& nanoseconds) {
  double total = 0.0;
  for (std::size_t i = 0; i < nanoseconds.size(); ++i) {
    const OpSite site = site_of(graph, i);
    const double time = median(nanoseconds[i]);
    const double flops = op_def(site.kind).work(site.in, site.out, site.attrs).flops;
    std::string types;
    for (const TensorType& type : site.in) types += fmt::format(" {}", to_string(type));
    fmt::print("{:>10.1f} us {:>7.1f} GFLOP/s  {:<20}{}\n", time * 1e-3, flops / time,
               name(site.kind), types);
    total += time;
  }
  fmt::print("{:>10.1f} us in all\n", total * 1e-3);
}

void run(const char* backend_name, const char* model_name, std::int64_t batch, const char* fusion) {
  const Registry registry = Registry::builtin();
  const std::unique_ptr<Backend> backend = registry.make(backend_name, {});
  const Model model = make_model(model_name);
  Session session(*backend, model,
                  {.mode = Mode::planned,
                   .step_batches = {batch},
                   .passes = passes_for(parse_fusion(fusion), backend->wishes())});
  load_noise(session, batch, 1);
  const stepscope::Program& program = session.step(batch).program();
  print(*program.graph, time_ops(session, StepLaunches(program, session)));
}

}  // namespace
}  // namespace stepscope::suites

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: op_times BACKEND MODEL BATCH FUSION\n");
    return 2;
  }
  try {
    stepscope::suites::run(argv[1], argv[2], std::max(1L, std::atol(argv[3])), argv[4]);
    return 0;
  } catch (const stepscope::Error& error) {
    fmt::print(stderr, "op_times: {}\n", error.what());
    return 1;
  }
}
