// One backend's part of a comparison: gate first, then rounds of interleaved slots.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/compare.h"

#include <algorithm>
#include <map>
#include <optional>

#include "bench/compare/arm.h"
#include "bench/compare/gate.h"
#include "bench/compare/work.h"
#include "bench/data/input_ring.h"
#include "bench/measure/clock.h"
#include "bench/measure/sampler.h"
#include "bench/measure/statistics.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr std::chrono::milliseconds kSlot{5};  // below it the edges of a slot weigh too much
constexpr std::int64_t kFewestRounds = 5;
constexpr std::int64_t kMostRounds = 200;  // the record keeps every sample
// What the reference backend may compute for one gate: about two seconds of plain loops.
constexpr double kReferenceFlops = 1e9;

// Ratios of medians, and their spread over the rounds: slots of one round are neighbours in time.
RatioRecord ratio_of(const ArmRecord& of, const ArmRecord& base) {
  std::vector<double> rounds;
  rounds.reserve(of.slots.size());
  for (std::size_t i = 0; i < of.slots.size(); ++i) {
    rounds.push_back(static_cast<double>(
                         summarize(std::span(&of.slots[i], 1), &SlotSamples::wall_ns).median_ns) /
                     summarize(std::span(&base.slots[i], 1), &SlotSamples::wall_ns).median_ns);
  }
  return {.mode = base.mode_requested,
          .fusion = base.fusion,
          .medians = of.wall.median_ns / base.wall.median_ns,
          .q1 = quantile(rounds, 0.25),
          .q3 = quantile(rounds, 0.75)};
}

// What an arm is divided by: unfused eager; planned, for a graph; the same mode unfused; the same
// mode with all passes, where passes are left out one by one.
bool is_pair(const ArmRecord& arm, const ArmRecord& base, bool ablate) {
  const std::string off = to_string(FusionChoice{});
  const bool same_mode = arm.mode_requested == base.mode_requested;
  const bool same_fusion = arm.fusion == base.fusion;
  if (same_mode && same_fusion) return false;
  if (base.mode_requested == "eager" && base.fusion == off) return true;
  if (arm.mode_requested == "graph" && base.mode_requested == "planned" && same_fusion) return true;
  return same_mode && (base.fusion == off || (ablate && base.fusion == "on"));
}

class BatchComparison {
 public:
  BatchComparison(const CompareSpec& spec, const Registry& registry, Backend& backend,
                  const InputRing& ring, std::int64_t batch)
      : spec_(spec), registry_(registry), backend_(backend), ring_(ring), batch_(batch) {}

  void prepare() {
    const std::vector<ArmChoice> choices = arms_of(spec_, backend_, batch_);
    arms_.reserve(choices.size());
    for (const ArmChoice& choice : choices) {
      arms_.push_back(make_arm(spec_, backend_, choice, batch_, ring_));
    }
    start_ = arms_.front().session->memory().snapshot(arms_.front().session->stream());
  }

  // Unfused arms against unfused eager by bits; the first arm of each fusion against it within what
  // rounding explains, and the other modes of that fusion against the first by bits.
  std::vector<GateRecord> gate() {
    std::vector<GateRecord> gates;
    if (!backend_.info().computes) return gates;
    Arm* eager = find(Mode::eager, {});
    std::optional<Arm> apart;  // where it is none of the arms
    if (eager == nullptr) eager = &apart.emplace(make_arm(spec_, backend_, {}, batch_, ring_));
    const GateTrace baseline = gate_trace(*eager->session, ring_, batch_);
    std::optional<GateTrace> control;
    std::map<std::string, std::pair<std::string, GateTrace>> firsts;  // by fusion; mode and trace
    firsts[eager->record.fusion] = {eager->record.mode_requested, baseline};
    for (Arm& arm : arms_) {
      if (&arm == eager) continue;
      GateTrace trace = gate_trace(*arm.session, ring_, batch_);
      const auto first = firsts.find(arm.record.fusion);
      if (first != firsts.end()) {
        gates.push_back(compare_bits(first->second.second, trace));
        gates.back().baseline_mode = first->second.first;
        gates.back().baseline_fusion = arm.record.fusion;
      } else {
        if (!control) control = control_trace(*eager->session, ring_, batch_);
        gates.push_back(
            compare_rounding(baseline, trace, *control, rounding_tolerance(graph_of(*eager))));
        gates.back().baseline_mode = eager->record.mode_requested;
        firsts[arm.record.fusion] = {arm.record.mode_requested, std::move(trace)};
      }
      gates.back().mode = arm.record.mode_requested;
      gates.back().fusion = arm.record.fusion;
    }
    if (spec_.backend != "reference") gates.push_back(gate_with_reference(*eager, baseline));
    for (GateRecord& gate : gates) {
      gate.backend = spec_.backend;
      gate.batch = batch_;
    }
    return gates;
  }

  // Rounds of one slot per arm; the order turns by one each round and runs backwards in every
  // second.
  void time(std::chrono::nanoseconds budget, const std::function<void(double)>& done) {
    for (Arm& arm : arms_) {
      arm.session->warm_up();
      arm.steps_per_slot = steps_for(*arm.session, ring_, batch_, kSlot);
      count_step(arm, batch_, ring_);
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
          time_dispatch(spec_.model, arm.choice.mode, batch_, arm.passes);
    }
    for (Arm& arm : arms_) {
      for (const Arm& base : arms_) {
        if (!is_pair(arm.record, base.record, spec_.ablate)) continue;
        arm.record.ratios.push_back(ratio_of(arm.record, base.record));
      }
    }
  }

  void move_arms_to(std::vector<ArmRecord>& records) {
    for (Arm& arm : arms_) records.push_back(std::move(arm.record));
  }

 private:
  Arm* find(Mode mode, const FusionChoice& fusion) {
    for (Arm& arm : arms_) {
      if (arm.choice.mode == mode && arm.record.fusion == to_string(fusion)) return &arm;
    }
    return nullptr;
  }

  const Graph& graph_of(Arm& arm) const { return arm.session->step(batch_).graph(); }

  GateRecord gate_with_reference(Arm& eager, const GateTrace& baseline) {
    const std::unique_ptr<Backend> reference = registry_.make("reference", {});
    Session session(*reference, spec_.model,
                    {.mode = Mode::planned, .step_batches = {batch_}, .seed = spec_.seed});
    const auto affordable = static_cast<std::int64_t>(kReferenceFlops / eager.record.flops);
    const std::int64_t steps = std::clamp<std::int64_t>(affordable, 1, kGateSteps);
    GateRecord gate =
        compare_within(gate_trace(session, ring_, batch_, steps), baseline,
                       std::max(kBackendTolerance, rounding_tolerance(graph_of(eager))));
    gate.baseline_mode = "reference";
    gate.mode = eager.record.mode_requested;
    return gate;
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

// What one epoch of the data is at this batch size: nothing where no data are read.
void add_epoch_counts(ArmRecord& arm, const CompareSpec& spec, const Data* data) {
  if (spec.model.classes == 0 || data == nullptr) return;
  const EpochCounts counts = epoch_counts(data->training().count, arm.batch, spec.partial);
  arm.steps = counts.steps;
  arm.samples_seen = counts.samples_seen;
  arm.samples_dropped = counts.samples_dropped;
  arm.partial_policy = std::string(name(spec.partial));
}

}  // namespace

Record compare_backend(const CompareSpec& spec, const Registry& registry, const Data* data,
                       const Progress& progress) {
  Record record;
  const std::unique_ptr<Backend> backend =
      registry.make(spec.backend, {.threads = spec.threads, .tune_file = spec.tune_file});
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
  for (ArmRecord& arm : record.arms) add_epoch_counts(arm, spec, data);
  return record;
}

}  // namespace stepscope
