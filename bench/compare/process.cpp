// One backend's part of a comparison, in one process.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "bench/compare/analysis.h"
#include "bench/compare/batch_run.h"
#include "bench/compare/budget.h"
#include "bench/compare/compare.h"
#include "bench/compare/work.h"
#include "bench/data/input_ring.h"
#include "bench/measure/calibration.h"
#include "bench/measure/core_handshake.h"
#include "bench/measure/environment.h"
#include "bench/measure/limits.h"
#include "bench/measure/process_memory.h"
#include "bench/measure/sampler.h"
#include "bench/record/simulated.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

// The gate behind the timing begins at another batch of the ring: a recording that kept what it
// read before would show.
constexpr std::int64_t kFirstAfter = 3;

InputRing ring_for(const CompareSpec& spec, const Data* data, std::int64_t batch) {
  if (spec.model.classes == 0) return InputRing::noise(spec.model.features, batch, spec.seed);
  return InputRing(data->training(), batch, spec.seed);
}

// What one epoch of the data is at this batch size: nothing where no data are read.
void add_epoch_counts(ArmRecord& arm, const CompareSpec& spec, const Data* data) {
  if (spec.model.classes == 0 || data == nullptr) return;
  const EpochCounts counts = epoch_counts(data->training().count, arm.batch, spec.partial);
  arm.steps = counts.steps;
  arm.samples_seen = counts.samples_seen;
  arm.samples_dropped = counts.samples_dropped;
  arm.partial_policy = std::string(name(spec.partial));
}

double seconds_since(Timer& timer, std::int64_t begin) {
  return static_cast<double>(timer.now() - begin) * 1e-9;
}

// Nothing is known of devices but that they compute: their bounds are no processor's.
std::string why_no_utilization(const Backend& backend) {
  if (!backend.info().computes) return "the backend computes nothing";
  if (backend.info().simulated) return why_simulated({std::string(backend.name())});
  if (backend.records_as() == RecordAs::tape) return UtilizationRecord{}.reason;
  return "no trace was taken, and the limits of its device are not known";
}

bool append_gates(Record& record, std::vector<GateRecord> gates) {
  bool passed = true;
  for (GateRecord& gate : gates) {
    passed = passed && gate.passed;
    record.gates.push_back(std::move(gate));
  }
  return passed;
}

// The process as a whole, for a record that is begun.
ProcessRecord begin_process(const CompareSpec& spec, Backend& backend, const ProcessPlan& plan) {
  const Handshake cores = measure_core_handshake();
  return {.process = plan.process,
          .backend = spec.backend,
          .address_offset = address_offset(plan.process, backend.alignment()),
          .core_distance = std::string(name(cores.distance)),
          .core_round_trip_ns = cores.round_trip_ns};
}

class ProcessRun {
 public:
  ProcessRun(const CompareSpec& spec, const Registry& registry, const Data* data,
             const ProcessPlan& plan, Timer& timer, const Progress& progress)
      : spec_(spec),
        registry_(registry),
        data_(data),
        plan_(plan),
        timer_(timer),
        progress_(progress),
        begin_(timer.now()),
        backend_(registry.make(spec.backend, {.threads = spec.threads,
                                              .tune_file = spec.tune_file,
                                              .record_as = spec.record_as,
                                              .tf32 = spec.tf32})) {
    init_ns_ = timer.now() - begin_;
    record_.backends.emplace_back(spec.backend, backend_->info().details);
    record_.processes.push_back(begin_process(spec, *backend_, plan));
    check(spec.self_check == SelfCheck::off || !backend_->info().simulated, Fault::unsupported,
          "--self-check: {}, and there is nothing to tell apart", why_simulated({spec.backend}));
    probe_limits();
  }

  void calibrate_machine() {
    const std::int64_t begin = timer_.now();
    record_.calibration = calibrate(timer_, *backend_, backend_->info().threads, plan_.calibration);
    costs_.extras_s += seconds_since(timer_, begin);
  }

  void run_batch(std::size_t index) {
    const std::int64_t batch = spec_.batches[index];
    const std::string what = fmt::format("{} batch {}", spec_.backend, batch);
    const auto share = [&](double part) {
      return (static_cast<double>(index) + part) / static_cast<double>(spec_.batches.size());
    };
    progress_(what, share(0.0));
    const InputRing ring = ring_for(spec_, data_, batch);
    BatchRun run({spec_, *backend_, ring, plan_, timer_}, batch);
    bool equal = append_gates(record_, run.gate("before", 0));
    if (plan_.extras == Extras::all) {
      const std::int64_t begin = timer_.now();
      equal = append_gates(record_, run.gate_with_reference(registry_)) && equal;
      costs_.extras_s += seconds_since(timer_, begin);
    }
    if (equal) {
      run.warm_up();
      const std::int64_t begin = timer_.now();
      run.run_blocks(record_.processes.front().sentinel_ns,
                     [&](double part) { progress_(what, share(part)); });
      costs_.rounds_s += seconds_since(timer_, begin);
      run.finish();
      if (plan_.extras == Extras::all) {
        const std::int64_t dispatch = timer_.now();
        run.time_dispatch_alone();
        costs_.extras_s += seconds_since(timer_, dispatch);
      }
      append_gates(record_, run.gate("after", kFirstAfter));
    }
    run.move_to(record_);
    probe_limits();
  }

  Record finish() {
    for (ArmRecord& arm : record_.arms) {
      add_epoch_counts(arm, spec_, data_);
      arm.utilization.reason = why_no_utilization(*backend_);
      for (OneOffRecord& one_off : arm.one_off) {
        one_off.init_ns = one_off.init_ns.value_or(0) + init_ns_;
      }
    }
    record_.processes.front().peak_rss = process_memory().peak_rss;
    if (const auto stolen = steal_ns(); stolen && steal_before_) {
      record_.processes.front().steal_ns = *stolen - *steal_before_;
    }
    if (backend_->info().computes) {  // behind the peak of memory: it takes some itself
      for (const CalibrationRow& row : probe_caches(timer_)) keep_best(limits_, row);
    }
    for (CalibrationRow& row : limits_) record_.calibration.push_back(std::move(row));
    return std::move(record_);
  }

  const ProcessCosts& costs() const { return costs_; }

 private:
  // What a core can compute right now: bounds want the best of many moments.
  void probe_limits() {
    if (backend_->info().computes) keep_best(limits_, probe_arithmetic());
  }

  const CompareSpec& spec_;
  const Registry& registry_;
  const Data* data_;
  const ProcessPlan& plan_;
  Timer& timer_;
  const Progress& progress_;
  std::int64_t begin_;
  std::optional<std::int64_t> steal_before_ = steal_ns();
  std::unique_ptr<Backend> backend_;
  std::int64_t init_ns_ = 0;
  Record record_;
  std::vector<CalibrationRow> limits_;
  ProcessCosts costs_;
};

}  // namespace

Record run_process(const CompareSpec& spec, const Registry& registry, const Data* data,
                   const ProcessPlan& plan, Timer& timer, const Progress& progress,
                   ProcessCosts* costs) {
  ProcessRun run(spec, registry, data, plan, timer, progress);
  for (std::size_t i = 0; i < spec.batches.size(); ++i) run.run_batch(i);
  if (plan.extras == Extras::all) run.calibrate_machine();  // its memory is in no arm's peak
  Record record = run.finish();
  if (costs != nullptr) *costs = run.costs();
  return record;
}

Facts protocol_facts() {
  const WarmUpRule warm_up;
  return {
      {"method", std::string(method::kThroughput)},
      {"slot", fmt::format("one block of steps, {} ms or longer; as many in both arms, unless one "
                           "is {} times as fast",
                           kSlotMs, kMostLonger)},
      {"order", "ABBA or BAAB, drawn in equal numbers"},
      {"start", "snapshot of parameters and states, restored outside the interval"},
      {"inputs", fmt::format("ring of {} batches", InputRing::kBatches)},
      {"includes", "input_copy"},
      {"sync", "before the first and before the last stamp of a slot"},
      {"warm_up",
       fmt::format("{} steps, then until two blocks of ten differ by less than {:.0f} %, "
                   "{} at most",
                   warm_up.least, 100.0 * warm_up.tolerance, warm_up.most)},
      {"repeat", fmt::to_string(kListSamples)},
      {"gate", fmt::format("{} steps before and after the timing", kGateSteps)},
      {"ratio", "geometric mean over processes of the median ratio of blocks, ABBA and BAAB alike"},
      {"sentinel", fmt::format("a chain of arithmetic of about 100 us, five times, between blocks; "
                               "{:.0f} % void the block",
                               100.0 * kSentinelTolerance)},
      {"lists", fmt::format("{} steps waited for one by one, then {} blocks of {} ms or longer",
                            kListSamples, kListSamples, kListBlockMs)}};
}

}  // namespace stepscope
