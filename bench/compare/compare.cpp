// One backend's part of a comparison: gate first, then rounds of interleaved slots.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/compare.h"

#include <algorithm>

#include "backends/execution/reconcile.h"
#include "bench/compare/gate.h"
#include "bench/data/input_ring.h"
#include "bench/measure/clock.h"
#include "bench/measure/sampler.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

constexpr std::chrono::milliseconds kSlot{5};  // below it the edges of a slot weigh too much
constexpr std::int64_t kFewestRounds = 5;
constexpr std::int64_t kMostRounds = 200;  // the record keeps every sample
// What the reference backend may compute for one gate: about two seconds of plain loops.
constexpr double kReferenceFlops = 1e9;

double flops_of(const Graph& graph) {
  double flops = 0.0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const OpSite site = site_of(graph, i);
    flops += op_def(site.kind).work(site.in, site.out, site.attrs).flops;
  }
  return flops;
}

std::string work_hash(Session& session, const CompareSpec& spec, std::int64_t batch,
                      const InputRing& ring) {
  Sha256 hash;
  const std::string text =
      fmt::format("{} {} {} batch {} dtype f32 threads {} seed {}", spec.model.name,
                  name(spec.optimizer.kind), spec.optimizer.rate, batch, spec.threads, spec.seed);
  hash.update(std::as_bytes(std::span(text)));
  hash.update(std::span<const std::uint8_t>(ring.digest()));
  for (const auto& [value_name, bytes] : session.parameters_and_states()) {
    hash.update(std::as_bytes(std::span(value_name)));
    hash.update(std::span<const std::byte>(bytes));
  }
  return to_hex(hash.finish());
}

// One mode at one batch size, with what it needs to be timed.
struct Arm {
  std::unique_ptr<Session> session;
  ArmRecord record;
  std::int64_t steps_per_slot = 0;
};

class BatchComparison {
 public:
  BatchComparison(const CompareSpec& spec, const Registry& registry, Backend& backend,
                  const InputRing& ring, std::int64_t batch)
      : spec_(spec), registry_(registry), backend_(backend), ring_(ring), batch_(batch) {}

  void prepare() {
    for (const Mode mode : spec_.modes) arms_.push_back(make_arm(mode));
    start_ = arms_.front().session->memory().snapshot(arms_.front().session->stream());
  }

  std::vector<GateRecord> gate() {
    std::vector<GateRecord> gates;
    if (!backend_.info().computes) return gates;
    const GateTrace baseline = gate_trace(*arms_.front().session, ring_, batch_);
    for (Arm& arm : arms_) {
      if (&arm == &arms_.front()) continue;
      GateRecord gate = compare_bits(baseline, gate_trace(*arm.session, ring_, batch_));
      gate.mode = arm.record.mode_requested;
      gates.push_back(std::move(gate));
    }
    if (spec_.backend != "reference") gates.push_back(gate_with_reference(baseline));
    for (GateRecord& gate : gates) {
      gate.backend = spec_.backend;
      gate.batch = batch_;
      if (gate.baseline_mode.empty()) gate.baseline_mode = arms_.front().record.mode_requested;
    }
    return gates;
  }

  // Rounds of one slot per arm; the order turns by one each round and runs backwards in every
  // second.
  void time(std::chrono::nanoseconds budget, const std::function<void(double)>& done) {
    for (Arm& arm : arms_) {
      arm.session->warm_up();
      arm.steps_per_slot = steps_for(*arm.session, ring_, batch_, kSlot);
      count_step(arm);
    }
    const Stamp begin = now();
    std::int64_t rounds = kFewestRounds;
    for (std::int64_t round = 0; round < rounds; ++round) {
      run_round(round);
      if (round == 0) {
        const auto one = std::max<std::int64_t>(1, (now() - begin).count());
        rounds = std::clamp<std::int64_t>(budget.count() / one, kFewestRounds, kMostRounds);
      }
      done(static_cast<double>(round + 1) / static_cast<double>(rounds));
    }
    for (Arm& arm : arms_) {
      arm.record.wall = summarize(arm.record.slots, &SlotSamples::wall_ns);
      arm.record.input_copy = summarize(arm.record.slots, &SlotSamples::input_copy_ns);
      arm.record.dispatch_empty_kernels =
          time_dispatch(spec_.model, mode_from(arm.record.mode_requested), batch_);
    }
  }

  void move_arms_to(std::vector<ArmRecord>& records) {
    for (Arm& arm : arms_) records.push_back(std::move(arm.record));
  }

 private:
  Arm make_arm(Mode mode) {
    Arm arm;
    const Stamp begin = now();
    arm.session = std::make_unique<Session>(
        backend_, spec_.model,
        SessionOptions{.mode = mode, .step_batches = {batch_}, .seed = spec_.seed});
    arm.record = {.backend = spec_.backend,
                  .mode_requested = std::string(name(mode)),
                  .batch = batch_,
                  .threads = backend_.info().threads,
                  .setup_ns = (now() - begin).count()};
    arm.record.work_hash = work_hash(*arm.session, spec_, batch_, ring_);
    arm.record.flops = flops_of(arm.session->step(batch_).graph());
    return arm;
  }

  GateRecord gate_with_reference(const GateTrace& baseline) {
    const std::unique_ptr<Backend> reference = registry_.make("reference", {});
    Session session(*reference, spec_.model,
                    {.mode = Mode::planned, .step_batches = {batch_}, .seed = spec_.seed});
    const auto affordable = static_cast<std::int64_t>(kReferenceFlops / arms_.front().record.flops);
    const std::int64_t steps = std::clamp<std::int64_t>(affordable, 1, kGateSteps);
    GateRecord gate =
        compare_within(gate_trace(session, ring_, batch_, steps), baseline, kBackendTolerance);
    gate.baseline_mode = "reference";
    gate.mode = arms_.front().record.mode_requested;
    return gate;
  }

  // Exact counts of a few steady steps; what was executed is derived from them.
  void count_step(Arm& arm) {
    constexpr std::uint64_t kSteps = 4;
    Session& session = *arm.session;
    session.stream().clear_log();
    const Counters before = session.stream().counters();
    for (std::uint64_t i = 0; i < kSteps; ++i) session.enqueue_step(batch_);
    session.stream().wait();
    const Counters counted = session.stream().counters() - before;
    Executor& executor = session.step(batch_);
    reconcile(executor.program(), counted, session.stream().log(),
              {.mode = session.options().mode, .steps = kSteps});
    arm.record.mode_executed = name(executed_mode(counted));
    arm.record.counts = {.ops = executor.graph().ops().size(),
                         .submissions = (counted.submitted + counted.replays) / kSteps,
                         .calls = (counted.calls_submitted + counted.calls_replayed) / kSteps,
                         .library_calls = counted.library_calls / kSteps,
                         .own_calls = counted.own_calls / kSteps,
                         .lookups = counted.lookups / kSteps};
    const Batch& batch = ring_.at(0);
    arm.record.counts.input_bytes =
        std::as_bytes(std::span(batch.x)).size() + std::as_bytes(std::span(batch.labels)).size();
    arm.record.reserved_bytes = executor.bytes_reserved();
    arm.record.model_bytes = session.memory().layout().bytes();
  }

  void run_round(std::int64_t round) {
    const auto count = static_cast<std::int64_t>(arms_.size());
    for (std::int64_t position = 0; position < count; ++position) {
      const std::int64_t turned = (position + round / 2) % count;
      Arm& arm = arms_[static_cast<std::size_t>(round % 2 == 0 ? turned : count - 1 - turned)];
      SlotSamples slot = sample_slot(*arm.session, ring_, batch_, start_, arm.steps_per_slot);
      slot.round = round;
      slot.position = position;
      arm.record.slots.push_back(std::move(slot));
    }
  }

  const CompareSpec& spec_;
  const Registry& registry_;
  Backend& backend_;
  const InputRing& ring_;
  std::int64_t batch_;
  std::vector<Arm> arms_;
  std::vector<std::byte> start_;  // snapshot of the model segment every slot begins with
};

InputRing ring_for(const CompareSpec& spec, const Data* data, std::int64_t batch) {
  if (spec.model.classes == 0) return InputRing::noise(spec.model.features, batch, spec.seed);
  return InputRing(data->training(), batch, spec.seed);
}

}  // namespace

Record compare_backend(const CompareSpec& spec, const Registry& registry, const Data* data,
                       const Progress& progress) {
  Record record;
  const std::unique_ptr<Backend> backend = registry.make(spec.backend, {.threads = spec.threads});
  record.backends.emplace_back(spec.backend, Facts(backend->info().details));
  const auto batches = static_cast<double>(spec.batches.size());
  for (std::size_t i = 0; i < spec.batches.size(); ++i) {
    const std::int64_t batch = spec.batches[i];
    const std::string what = fmt::format("{} batch {}", spec.backend, batch);
    const auto share = [&](double part) { return (static_cast<double>(i) + part) / batches; };
    progress(what + ": gate", share(0.0));
    const InputRing ring = ring_for(spec, data, batch);
    BatchComparison comparison(spec, registry, *backend, ring, batch);
    comparison.prepare();
    const std::vector<GateRecord> gates = comparison.gate();
    const bool equal =
        std::all_of(gates.begin(), gates.end(), [](const GateRecord& gate) { return gate.passed; });
    record.gates.insert(record.gates.end(), gates.begin(), gates.end());
    if (equal) {
      comparison.time(spec.budget / static_cast<std::int64_t>(spec.batches.size()),
                      [&](double part) { progress(what, share(part)); });
    }
    comparison.move_arms_to(record.arms);
  }
  return record;
}

}  // namespace stepscope
