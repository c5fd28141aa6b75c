// Timing steps in slots, and dispatch on empty kernels.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/sampler.h"

#include <algorithm>
#include <memory>

#include "backends/null/null.h"
#include "bench/measure/clock.h"
#include "bench/measure/statistics.h"

namespace stepscope {
namespace {

// One step as it is timed: copy in, submit, wait.
struct StepTimes {
  std::int64_t input_copy_ns;
  std::int64_t wall_ns;
};

TimeSummary to_record(std::span<const double> values) {
  const Summary summary = summarize(values);
  return {static_cast<std::int64_t>(values.size()),
          summary.min,
          summary.q1,
          summary.median,
          summary.q3,
          summary.max,
          summary.mean};
}

StepTimes timed_step(Session& session, Executor& executor, const Batch& batch) {
  const Stamp begin = now();
  session.load(batch.x, batch.labels);
  const Stamp loaded = now();
  executor.enqueue(session.stream());
  session.stream().wait();
  const Stamp done = now();
  return {(loaded - begin).count(), (done - loaded).count()};
}

}  // namespace

SlotSamples sample_slot(Session& session, const InputRing& ring, std::int64_t batch,
                        std::span<const std::byte> start, std::int64_t steps) {
  SlotSamples slot;
  slot.wall_ns.reserve(static_cast<std::size_t>(steps));
  slot.input_copy_ns.reserve(static_cast<std::size_t>(steps));
  Executor& executor = session.step(batch);
  session.memory().restore(session.stream(), start);
  for (std::int64_t step = 0; step < steps; ++step) {
    const StepTimes times = timed_step(session, executor, ring.at(step));
    slot.input_copy_ns.push_back(times.input_copy_ns);
    slot.wall_ns.push_back(times.wall_ns);
  }
  return slot;
}

std::int64_t steps_for(Session& session, const InputRing& ring, std::int64_t batch,
                       std::chrono::nanoseconds slot) {
  constexpr std::int64_t kMostSteps = 100'000;
  Executor& executor = session.step(batch);
  for (std::int64_t steps = 1;; steps *= 2) {
    const Stamp begin = now();
    for (std::int64_t i = 0; i < steps; ++i) (void)timed_step(session, executor, ring.at(i));
    if (now() - begin >= slot || steps >= kMostSteps) return steps;
  }
}

TimeSummary summarize(std::span<const SlotSamples> slots,
                      std::vector<std::int64_t> SlotSamples::*values) {
  std::vector<double> all;
  for (const SlotSamples& slot : slots) {
    all.insert(all.end(), (slot.*values).begin(), (slot.*values).end());
  }
  return to_record(all);
}

TimeSummary time_dispatch(const Model& model, Mode mode, std::int64_t batch,
                          const std::vector<Pass>& passes) {
  constexpr std::size_t kBlocks = 31;
  constexpr std::chrono::milliseconds kBlock{2};
  const std::unique_ptr<Backend> null = null::make_backend({});
  Session session(*null, model, {.mode = mode, .step_batches = {batch}, .passes = passes});
  session.warm_up();
  Executor& executor = session.step(batch);
  std::int64_t steps = 1;
  std::vector<double> step_ns;
  while (step_ns.size() < kBlocks) {
    const Stamp begin = now();
    for (std::int64_t i = 0; i < steps; ++i) executor.enqueue(session.stream());
    const auto taken = now() - begin;
    if (taken < kBlock) {
      steps *= 2;  // too short to time: the block grows
      continue;
    }
    step_ns.push_back(static_cast<double>(taken.count()) / static_cast<double>(steps));
  }
  return to_record(step_ns);
}

}  // namespace stepscope
