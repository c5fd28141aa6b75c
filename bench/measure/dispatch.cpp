// What dispatch alone costs: a step on the null backend.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "backends/null/null.h"
#include "bench/measure/sampler.h"

namespace stepscope {

TimeSummary time_dispatch(const Model& model, Mode mode, std::int64_t batch,
                          const std::vector<Pass>& passes) {
  constexpr std::size_t kBlocks = 31;
  constexpr std::int64_t kBlockNs = 2'000'000;
  const std::unique_ptr<Backend> null = null::make_backend({});
  Session session(*null, model, {.mode = mode, .step_batches = {batch}, .passes = passes});
  session.warm_up();
  Executor& executor = session.step(batch);
  SteadyTimer timer;
  Samples samples;
  samples.start_ns.reserve(kBlocks);
  samples.elapsed_ns.reserve(kBlocks);
  while (samples.elapsed_ns.size() < kBlocks) {
    const std::int64_t start = timer.now();
    for (std::int64_t i = 0; i < samples.steps_per_sample; ++i) executor.enqueue(session.stream());
    const std::int64_t taken = timer.now() - start;
    if (taken < kBlockNs) {  // too short to time: all blocks grow
      samples.steps_per_sample *= 2;
      samples.start_ns.clear();
      samples.elapsed_ns.clear();
      continue;
    }
    samples.start_ns.push_back(start);
    samples.elapsed_ns.push_back(taken);
  }
  return summarize({&samples, 1});
}

}  // namespace stepscope
