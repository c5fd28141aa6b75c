// The lists of a record, and what follows from them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/sampler.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/measure/resource_usage.h"
#include "bench/measure/statistics.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

// An empty list with room for all its samples.
Samples make_list(std::string_view method, std::string_view covers, std::int64_t steps_per_sample,
                  std::int64_t samples) {
  check(samples > 0 && steps_per_sample > 0, Fault::bad_input,
        "{}: {} samples of {} steps, expected 1 or more of each", method, samples,
        steps_per_sample);
  Samples list;
  list.method = method;
  list.covers = covers;
  list.steps_per_sample = steps_per_sample;
  list.start_ns.reserve(static_cast<std::size_t>(samples));
  list.elapsed_ns.reserve(static_cast<std::size_t>(samples));
  return list;
}

void add(Samples& list, std::int64_t start, std::int64_t stop) {
  list.start_ns.push_back(start);
  list.elapsed_ns.push_back(stop - start);
}

void run_steps(Subject& subject, std::int64_t steps) {
  for (std::int64_t step = 0; step < steps; ++step) {
    subject.load(step);
    subject.submit();
  }
}

struct Interval {
  std::int64_t start = 0, stop = 0;
};

Interval throughput_block(Subject& subject, Timer& timer, std::int64_t steps) {
  subject.restart();
  subject.wait();
  const std::int64_t start = timer.now();
  run_steps(subject, steps);
  subject.wait();
  return {start, timer.now()};
}

// Of two stamps and a sync without work.
std::int64_t bracket_cost(Subject& subject, Timer& timer) {
  std::array<std::int64_t, 5> costs{};
  for (std::int64_t& cost : costs) {
    subject.wait();
    const std::int64_t start = timer.now();
    subject.wait();
    cost = timer.now() - start;
  }
  std::sort(costs.begin(), costs.end());
  return costs[costs.size() / 2];
}

}  // namespace

LatencyLists sample_latency(Subject& subject, Timer& timer, std::int64_t samples) {
  LatencyLists lists{.step = make_list(method::kLatency, kComplete, 1, samples),
                     .input_copy = make_list(method::kLatency, kComplete, 1, samples)};
  subject.restart();
  for (std::int64_t step = 0; step < samples; ++step) {
    subject.wait();
    const std::int64_t begin = timer.now();
    subject.load(step);
    subject.wait();
    const std::int64_t loaded = timer.now();  // ends the copy and begins the step
    subject.submit();
    subject.wait();
    const std::int64_t done = timer.now();
    add(lists.input_copy, begin, loaded);
    add(lists.step, loaded, done);
  }
  lists.total_ns =
      lists.step.start_ns.back() + lists.step.elapsed_ns.back() - lists.input_copy.start_ns.front();
  return lists;
}

Samples sample_throughput(Subject& subject, Timer& timer, std::int64_t steps_per_block,
                          std::int64_t blocks) {
  Samples list = make_list(method::kThroughput, kComplete, steps_per_block, blocks);
  for (std::int64_t block = 0; block < blocks; ++block) {
    const Interval interval = throughput_block(subject, timer, steps_per_block);
    add(list, interval.start, interval.stop);
  }
  return list;
}

std::optional<Samples> sample_submission(Subject& subject, Timer& timer,
                                         std::int64_t steps_per_block, std::int64_t blocks) {
  if (subject.synchronous()) return std::nullopt;
  Samples list = make_list(method::kSubmission, kSubmittedOnly, steps_per_block, blocks);
  for (std::int64_t block = 0; block < blocks; ++block) {
    subject.restart();
    subject.wait();
    const std::int64_t start = timer.now();
    run_steps(subject, steps_per_block);
    const std::int64_t stop = timer.now();
    subject.wait();
    add(list, start, stop);
  }
  return list;
}

std::optional<Samples> sample_device(Subject& subject, Timer& timer, std::int64_t steps_per_block,
                                     std::int64_t blocks) {
  Stopwatch* const watch = subject.stopwatch();
  if (watch == nullptr) return std::nullopt;
  Samples list = make_list(method::kDevice, kComplete, steps_per_block, blocks);
  for (std::int64_t block = 0; block < blocks; ++block) {
    subject.restart();
    subject.wait();
    list.start_ns.push_back(timer.now());
    watch->start();
    run_steps(subject, steps_per_block);
    watch->stop();
    subject.wait();
    list.elapsed_ns.push_back(watch->nanoseconds());
  }
  return list;
}

TimedSlot time_slot(Subject& subject, Timer& timer, std::int64_t steps) {
  subject.restart();
  subject.wait();
  const ResourceUsage before = resource_usage();
  const std::int64_t start = timer.now();
  run_steps(subject, steps);
  subject.wait();
  const std::int64_t stop = timer.now();
  const ResourceUsage used = resource_usage() - before;
  return {.start_ns = start,
          .elapsed_ns = stop - start,
          .thread_cpu_ns = used.thread_cpu_ns,
          .process_cpu_ns = used.process_cpu_ns,
          .voluntary_switches = used.voluntary_switches,
          .involuntary_switches = used.involuntary_switches,
          .page_faults = used.page_faults};
}

std::int64_t steps_for(Subject& subject, Timer& timer, std::int64_t least_ns) {
  constexpr std::int64_t kMostSteps = 100'000;
  constexpr std::int64_t kBracketsPerBlock = 1000;
  constexpr int kRepeats = 3;
  constexpr double kSpare = 1.25;  // the next block may be faster than this one
  const std::int64_t least = std::max(least_ns, kBracketsPerBlock * bracket_cost(subject, timer));
  const auto time_of = [&](std::int64_t steps) {
    const Interval block = throughput_block(subject, timer, steps);
    return block.stop - block.start;
  };
  for (std::int64_t steps = 1;; steps = std::min(2 * steps, kMostSteps)) {
    std::int64_t taken = time_of(steps);
    // One block may be long because somebody else had the processor: the shortest of a few is not.
    for (int again = 0; again < kRepeats && taken >= least; ++again) {
      taken = std::min(taken, time_of(steps));
    }
    if (taken < least && steps < kMostSteps) continue;
    if (taken <= least) return steps;
    const double needed = std::ceil(static_cast<double>(steps) * kSpare *
                                    static_cast<double>(least) / static_cast<double>(taken));
    return std::min(steps, static_cast<std::int64_t>(needed));
  }
}

TimeSummary summarize(std::span<const Samples> lists) {
  std::vector<double> per_step;
  for (const Samples& list : lists) {
    for (const std::int64_t elapsed : list.elapsed_ns) {
      per_step.push_back(static_cast<double>(elapsed) / static_cast<double>(list.steps_per_sample));
    }
  }
  if (per_step.empty()) return {};
  const Summary summary = summarize(per_step);
  TimeSummary times{.count = static_cast<std::int64_t>(summary.count),
                    .min_ns = summary.min,
                    .q1_ns = summary.q1,
                    .median_ns = summary.median,
                    .q3_ns = summary.q3,
                    .max_ns = summary.max,
                    .mean_ns = summary.mean,
                    .iqr_ns = summary.iqr(),
                    .mild_outliers = static_cast<std::int64_t>(summary.outliers.mild),
                    .severe_outliers = static_cast<std::int64_t>(summary.outliers.severe)};
  if (const std::optional<MedianInterval> interval = median_interval(per_step)) {
    times.median_low_ns = interval->low;
    times.median_high_ns = interval->high;
    times.median_coverage = interval->coverage;
  }
  return times;
}

std::int64_t residual_ns(std::int64_t total_ns,
                         std::initializer_list<std::span<const std::int64_t>> stages) {
  std::int64_t residual = total_ns;
  for (const std::span<const std::int64_t> stage : stages) {
    for (const std::int64_t elapsed : stage) residual -= elapsed;
  }
  return residual;
}

void check_covers(const Samples& samples, std::span<const std::int64_t> ends_ns) {
  check(samples.elapsed_ns.size() == ends_ns.size(), Fault::bad_input,
        "samples: {} of them, and {} ends of work", samples.elapsed_ns.size(), ends_ns.size());
  if (samples.covers != kComplete) return;
  for (std::size_t i = 0; i < ends_ns.size(); ++i) {
    const std::int64_t stop = samples.start_ns[i] + samples.elapsed_ns[i];
    check(ends_ns[i] <= stop, Fault::bad_input,
          "samples: sample {} is said to be complete, but its work ends {} ns after it, at {} ns",
          i, ends_ns[i] - stop, ends_ns[i]);
  }
}

}  // namespace stepscope
