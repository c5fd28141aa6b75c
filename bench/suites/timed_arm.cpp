// Preparing an arm, its blocks and its counters.
// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/timed_arm.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/compare/bounds.h"
#include "bench/measure/sampler.h"
#include "bench/suites/allocations.h"

namespace stepscope::suites {
namespace {

constexpr auto kBlockNs = static_cast<std::int64_t>(kListBlockMs * 1e6);
constexpr double kNsPerUs = 1e3;

InputRing ring_for(Suite& suite, const Model& model, std::int64_t batch) {
  const std::uint64_t seed = suite.flags().seed;
  if (model.classes == 0) return InputRing::noise(model.features, batch, seed);
  return InputRing(suite.data_for(model).training(), batch, seed);
}

CompareSpec spec_of(const Suite& suite, const ArmKey& key) {
  return {.model = make_model(key.model),
          .backend = key.backend,
          .modes = {key.mode},
          .batches = {key.batch},
          .threads = suite.flags().threads,
          .seed = suite.flags().seed};
}

}  // namespace

ArmGround::ArmGround(Suite& suite, const ArmKey& key)
    : backend(suite.registry().make(key.backend, {.threads = suite.flags().threads})),
      spec(spec_of(suite, key)),
      ring(ring_for(suite, spec.model, key.batch)) {
  if (!suite.is_first_of(key.backend)) return;
  Arm first = make_arm(spec, *backend, {key.mode, parse_fusion(key.fusion)}, key.batch, ring);
  first_step(first, key.batch, ring, suite.timer());
}

TimedArm::TimedArm(Suite& suite, const ArmKey& key)
    : suite_(suite),
      key_(key),
      ground_(suite, key),
      arm_(make_arm(ground_.spec, *ground_.backend, {key.mode, parse_fusion(key.fusion)}, key.batch,
                    ground_.ring)),
      start_(arm_.session->memory().snapshot(arm_.session->stream())),
      subject_(*arm_.session, ground_.ring, key.batch, start_) {
  first_step(arm_, key.batch, ground_.ring, suite.timer());
  warm_up();
  allocations_ = allocations_of_step(subject_);
  arm_.record.dispatch_empty_kernels =
      time_dispatch(ground_.spec.model, key.mode, key.batch, arm_.passes);
  blocks_.method = method::kThroughput;
  blocks_.covers = kComplete;
  blocks_.steps_per_sample =
      suite.block_length([&] { return steps_for(subject_, suite.timer(), kBlockNs); });
  limits_ = suite.limits();
}

void TimedArm::warm_up() {
  Timer& timer = suite_.timer();
  const std::int64_t begin = timer.now();
  WarmUp warm = stepscope::warm_up(subject_, timer);
  OneOffRecord& one_off = arm_.record.one_off.front();
  one_off.warmup_ns = timer.now() - begin;
  one_off.warmup_steps = static_cast<std::int64_t>(warm.samples.elapsed_ns.size());
  one_off.warmup_rule = warm.rule;
  begin_steady(arm_);
  count_step(arm_, key_.batch, ground_.ring);
  arm_.record.warmup.push_back(std::move(warm.samples));
  if (suite_.flags().raw.empty()) return;
  LatencyLists lists = sample_latency(subject_, timer, kListSamples);
  arm_.record.latency.push_back(std::move(lists.step));
  arm_.record.input_copy.push_back(std::move(lists.input_copy));
}

void TimedArm::run(benchmark::State& state) {
  const std::int64_t elapsed_ns = run_blocks(state, subject_, suite_.timer(), blocks_);
  const auto iterations = static_cast<double>(std::max<std::int64_t>(state.iterations(), 1));
  set_counters(state, static_cast<double>(elapsed_ns) / kNsPerUs / iterations);
}

// `time_us`: of a step.
void TimedArm::set_counters(benchmark::State& state, double time_us) {
  using benchmark::Counter;
  const ArmRecord& arm = arm_.record;
  set_label(state, arm);
  set_counts(state, arm);
  state.counters["dispatch_ns"] = arm.dispatch_empty_kernels->median_ns;
  state.counters["flops"] = Counter(arm.flops, Counter::kIsIterationInvariantRate);
  state.counters["bytes"] = arm.fewest_bytes;
  if (allocations_) state.counters["allocations"] = *allocations_;
  ArmRecord bounded = arm;
  bounded.throughput_summary = summarize({&blocks_, 1});
  add_bounds(bounded, limits_);
  const auto share = [&](const char* name, const std::optional<double>& bound_us) {
    if (bound_us) state.counters[name] = *bound_us / time_us;
  };
  share("arithmetic_share", bounded.utilization.arith_lower_bound_us);
  share("bandwidth_share", bounded.utilization.bandwidth_lower_bound_us);
}

void TimedArm::finish() {
  end_steady(arm_);
  if (!ground_.backend->info().computes) {
    arm_.record.utilization.reason = "the backend computes nothing";
  }
  if (!blocks_.elapsed_ns.empty()) arm_.record.throughput.push_back(std::move(blocks_));
  suite_.keep(ground_.spec.model.name, key_.backend, ground_.backend->info());
  suite_.keep(ground_.spec.model.name, std::move(arm_.record));
}

std::int64_t run_blocks(benchmark::State& state, Subject& subject, Timer& timer, Samples& blocks) {
  std::int64_t elapsed_ns = 0;
  while (state.KeepRunningBatch(blocks.steps_per_sample)) {
    const Samples block = sample_throughput(subject, timer, blocks.steps_per_sample, 1);
    state.SetIterationTime(static_cast<double>(block.elapsed_ns.front()) / kNsPerSecond);
    blocks.start_ns.push_back(block.start_ns.front());
    blocks.elapsed_ns.push_back(block.elapsed_ns.front());
    elapsed_ns += block.elapsed_ns.front();
  }
  return elapsed_ns;
}

std::optional<double> allocations_of_step(Subject& subject) {
  constexpr std::int64_t kSteps = 8;
  subject.restart();
  const std::optional<std::uint64_t> counted = count_allocations([&] {
    for (std::int64_t step = 0; step < kSteps; ++step) {
      subject.load(step);
      subject.submit();
    }
    subject.wait();
  });
  if (!counted) return std::nullopt;
  return static_cast<double>(*counted) / static_cast<double>(kSteps);
}

Facts throughput_protocol() {
  const WarmUpRule warm_up;
  return {{"method", std::string(method::kThroughput)},
          {"block", fmt::format("steps for {} ms or longer", kListBlockMs)},
          {"start", "snapshot of parameters and states, restored outside the interval"},
          {"inputs", fmt::format("ring of {} batches", InputRing::kBatches)},
          {"includes", "input_copy"},
          {"sync", "before the first and before the last stamp of a block"},
          {"warm_up",
           fmt::format("{} steps, then until two blocks of ten differ by less than {:.0f} %, "
                       "{} at most",
                       warm_up.least, 100.0 * warm_up.tolerance, warm_up.most)}};
}

void set_counts(benchmark::State& state, const ArmRecord& arm) {
  const auto count = [&](const char* name, std::uint64_t value) {
    state.counters[name] = static_cast<double>(value);
  };
  count("ops", arm.counts.ops);
  count("launches", arm.counts.submissions);
  count("calls", arm.counts.calls);
}

void set_label(benchmark::State& state, const ArmRecord& arm) {
  constexpr std::size_t kDigits = 12;
  state.SetLabel(fmt::format("work {}", arm.work_hash.substr(0, kDigits)));
}

}  // namespace stepscope::suites
