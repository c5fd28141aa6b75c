// cudasim_step_time: how long the simulator takes for a training step, as the median of rounds. A
// program to look at, not a test: no test waits for a clock.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <string_view>
#include <vector>

#include "tests/backends/cuda/mlp/recorder.h"
#include "tests/backends/cuda/mlp/reference.h"
#include "tests/backends/cuda/mlp/step.h"

namespace stepscope::mlp {
namespace {

constexpr Sizes kFull{32, {784, 512, 256, 10}};
constexpr int kRounds = 21;

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}
double processor_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Beside the wall's clock the processor's: a busy machine shows in the first alone.
void time_rounds(std::string_view what, Step& step, const std::function<void()>& submit) {
  std::vector<double> wall, processor;
  for (int round = 0; round <= kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const double before = processor_ms();
    submit();
    check(cudaStreamSynchronize(step.stream()), "cudaStreamSynchronize");
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    if (round == 0) continue;  // warms caches
    wall.push_back(took.count());
    processor.push_back(processor_ms() - before);
  }
  fmt::print("{:48} {:8.2f} ms a step, {:8.2f} ms of processor (medians of {})\n", what,
             median(wall), median(processor), kRounds);
}

void time_engine(Engine engine, std::string_view name) {
  Step step(kFull, engine, parameters_of(kFull, 1), 0.1F);
  step.set_batch(batch_of(kFull, 1));
  Recorder live{.stream = step.stream()};
  time_rounds(fmt::format("16 calls, products by {}, live", name), step,
              [&] { step.record(live); });
  check(cudaStreamBeginCapture(step.stream(), cudaStreamCaptureModeGlobal), "begin");
  step.record(live);
  cudaGraph_t graph = nullptr;
  check(cudaStreamEndCapture(step.stream(), &graph), "end");
  cudaGraphExec_t exec = nullptr;
  check(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  time_rounds(fmt::format("16 nodes, products by {}, one graph", name), step,
              [&] { check(cudaGraphLaunch(exec, step.stream()), "cudaGraphLaunch"); });
  check(cudaGraphExecDestroy(exec), "cudaGraphExecDestroy");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  if (engine == Engine::library) {
    time_rounds("8 calls, no products", step, [&] { step.record_own_kernels(live); });
  }
}

}  // namespace
}  // namespace stepscope::mlp

int main() {
  fmt::print("784-512-256-10, batch 32\n");
  stepscope::mlp::time_engine(stepscope::mlp::Engine::library, "cuBLASLt");
  stepscope::mlp::time_engine(stepscope::mlp::Engine::kernels, "own kernels");
}
