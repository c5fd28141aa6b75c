// The phases of a batch in one process.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/batch_run.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "bench/compare/budget.h"
#include "bench/compare/schedule.h"
#include "bench/compare/work.h"
#include "bench/measure/core_handshake.h"
#include "bench/measure/process_memory.h"
#include "bench/measure/sampler.h"
#include "bench/measure/sentinel.h"

namespace stepscope {
namespace {

constexpr auto kSlotNs = static_cast<std::int64_t>(kSlotMs * 1e6);
constexpr auto kBlockNs = static_cast<std::int64_t>(kListBlockMs * 1e6);
constexpr std::int64_t kTwiceEvery = 10;  // steps of the arm that must be a tenth slower

// The two cores as they are now; as they were last, when one of them does not answer. A step on one
// thread does not depend on it.
void update_stratum(std::string& stratum, int threads) {
  constexpr std::chrono::milliseconds kLimit{20};
  if (threads == 1) {
    stratum = "single";
    return;
  }
  const Handshake cores = measure_core_handshake({.limit = kLimit});
  if (stratum.empty() || cores.round_trip_ns) stratum = name(cores.distance);
}

// A few steps of the arm that comes next, untimed: no slot pays for what ran before it.
void rewarm(Subject& subject, std::int64_t slot_steps) {
  const std::int64_t steps = std::clamp<std::int64_t>(slot_steps / 16, 1, 64);
  for (std::int64_t step = 0; step < steps; ++step) {
    subject.load(step);
    subject.submit();
  }
  subject.wait();
}

bool is_planted(const Arm& arm) { return arm.record.role == "planted"; }

std::vector<const ArmRecord*> records_of(const std::vector<Arm>& arms) {
  std::vector<const ArmRecord*> records;
  records.reserve(arms.size());
  for (const Arm& arm : arms) records.push_back(&arm.record);
  return records;
}

}  // namespace

BatchRun::BatchRun(const Setting& setting, std::int64_t batch) : setting_(setting), batch_(batch) {
  const std::vector<ArmChoice> choices = arms_of(setting.spec, setting.backend, batch);
  arms_.reserve(choices.size() + 3);
  const std::int64_t offset = address_offset(setting.plan.process, setting.backend.alignment());
  // What only the first arm of a process would pay (a library that is loaded, its first kernels,
  // pages) is paid by one that nobody keeps.
  Arm first = make_arm(setting.spec, setting.backend, choices.front(), batch, setting.ring);
  first_step(first, batch, setting.ring, setting.timer);
  for (const ArmChoice& choice : choices) {
    arms_.push_back(
        make_arm(setting.spec, setting.backend, choice, batch, setting.ring, {.offset = offset}));
  }
  if (!setting.backend.info().simulated) add_repeated_arms();
  start_ = arms_.front().session->memory().snapshot(arms_.front().session->stream());
  for (Arm& arm : arms_) {
    first_step(arm, batch, setting.ring, setting.timer);
    arm.record.one_off.front().process = setting.plan.process;
  }
  gating_.emplace(setting.spec, setting.backend, setting.ring, batch, arms_);
}

// The base once more as the control; with the self-check twice more.
void BatchRun::add_repeated_arms() {
  const Arm& base = arms_[base_of(records_of(arms_), setting_.spec.ablate)];
  const ArmChoice choice = base.choice;
  const std::string name = base.record.name;
  const std::int64_t offset = address_offset(setting_.plan.process, setting_.backend.alignment());
  const auto add = [&](std::string_view role, std::string_view suffix) {
    arms_.push_back(make_arm(setting_.spec, setting_.backend, choice, batch_, setting_.ring,
                             {.offset = offset}));
    arms_.back().record.role = role;
    arms_.back().record.name = fmt::format("{}/{}", name, suffix);
  };
  add("control", "again");
  if (setting_.spec.self_check == SelfCheck::off) return;
  add("same", "same");
  add("planted", "planted");
}

std::vector<GateRecord> BatchRun::gate(std::string_view when, std::int64_t first) {
  std::vector<GateRecord> gates = gating_->run(first);
  for (GateRecord& gate : gates) {
    gate.process = setting_.plan.process;
    gate.when = when;
  }
  return gates;
}

std::vector<GateRecord> BatchRun::gate_with_reference(const Registry& registry) {
  std::vector<GateRecord> gates = gating_->run_reference(registry);
  for (GateRecord& gate : gates) gate.process = setting_.plan.process;
  return gates;
}

void BatchRun::warm_up() {
  Timer& timer = setting_.timer;
  for (Arm& arm : arms_) {
    subjects_.push_back(std::make_unique<SessionSubject>(
        *arm.session, setting_.ring, batch_, start_, is_planted(arm) ? kTwiceEvery : 0));
    Subject& subject = *subjects_.back();
    const std::int64_t begin = timer.now();
    WarmUp warm = stepscope::warm_up(subject, timer);
    OneOffRecord& one_off = arm.record.one_off.front();
    one_off.warmup_ns = timer.now() - begin;
    one_off.warmup_steps = static_cast<std::int64_t>(warm.samples.elapsed_ns.size());
    one_off.warmup_rule = warm.rule;
    begin_steady(arm);
    count_step(arm, batch_, setting_.ring);
    LatencyLists lists = sample_latency(subject, timer, kListSamples);
    end_steady(arm);
    for (Samples* list : {&warm.samples, &lists.step, &lists.input_copy}) {
      list->process = setting_.plan.process;
    }
    arm.record.warmup.push_back(std::move(warm.samples));
    arm.record.latency.push_back(std::move(lists.step));
    arm.record.input_copy.push_back(std::move(lists.input_copy));
  }
  for (const auto& subject : subjects_) {
    slot_steps_.push_back(steps_for(*subject, timer, kSlotNs));
  }
}

// As many steps in both arms, so that their slots train alike, unless that makes slots of the
// slower one long against what a machine stays the same for.
BatchRun::TimedPair BatchRun::timed_pair(const ArmPair& pair) const {
  const std::int64_t base = slot_steps_[pair.base];
  const std::int64_t of = slot_steps_[pair.of];
  std::int64_t most = std::max(base, of);
  const bool alike = most <= kMostLonger * std::min(base, of);
  // Whole tens: then the planted arm takes 1.1 times as long and neither more nor less.
  if (is_planted(arms_[pair.of])) most = (most + kTwiceEvery - 1) / kTwiceEvery * kTwiceEvery;
  return {pair,
          {.process = setting_.plan.process,
           .base_steps = alike ? most : base,
           .of_steps = alike ? most : of,
           .blocks = {}}};
}

TimedBlock BatchRun::run_block(const TimedPair& timed, bool base_first) {
  TimedBlock block{.order = base_first ? "ABBA" : "BAAB", .stratum = stratum_};
  for (std::size_t i = 0; i < block.slots.size(); ++i) {
    const bool outer = i == 0 || i + 1 == block.slots.size();
    const bool base = outer == base_first;
    Subject& subject = *subjects_[base ? timed.pair.base : timed.pair.of];
    const std::int64_t steps = base ? timed.blocks.base_steps : timed.blocks.of_steps;
    rewarm(subject, steps);
    block.slots[i] = time_slot(subject, setting_.timer, steps);
  }
  return block;
}

void BatchRun::run_blocks(std::vector<std::int64_t>& sentinels,
                          const std::function<void(double)>& done) {
  for (const ArmPair& pair : pairs_of(records_of(arms_), setting_.spec.ablate)) {
    pairs_.push_back(timed_pair(pair));
    pairs_.back().blocks.blocks.reserve(static_cast<std::size_t>(setting_.plan.blocks));
  }
  // Of a simulated backend no pair has a ratio, and so no blocks.
  const std::int64_t blocks = setting_.backend.info().simulated ? 0 : setting_.plan.blocks;
  const std::vector<BlockPlan> plan =
      block_plan(pairs_.size(), blocks, setting_.plan.seed, setting_.plan.process);
  sentinels.push_back(run_sentinel(setting_.timer));
  for (std::size_t i = 0; i < plan.size(); ++i) {
    update_stratum(stratum_, setting_.backend.info().threads);
    TimedPair& timed = pairs_[plan[i].pair];
    TimedBlock block = run_block(timed, plan[i].abba);
    block.sentinel_before_ns = sentinels.back();
    sentinels.push_back(run_sentinel(setting_.timer));
    block.sentinel_after_ns = sentinels.back();
    timed.blocks.blocks.push_back(std::move(block));
    done(static_cast<double>(i + 1) / static_cast<double>(plan.size()));
  }
}

void BatchRun::finish() {
  // One block of each arm in turn, so that all lists lie over the same time.
  std::vector<std::int64_t> steps;
  for (const auto& subject : subjects_) {
    steps.push_back(steps_for(*subject, setting_.timer, kBlockNs));
  }
  std::vector<Samples> lists(arms_.size());
  for (std::int64_t round = 0; round < kListSamples; ++round) {
    for (std::size_t i = 0; i < arms_.size(); ++i) {
      const std::size_t arm = round % 2 == 0 ? i : arms_.size() - 1 - i;
      Samples one = sample_throughput(*subjects_[arm], setting_.timer, steps[arm], 1);
      if (round == 0) {
        lists[arm] = std::move(one);
        lists[arm].process = setting_.plan.process;
        continue;
      }
      lists[arm].start_ns.push_back(one.start_ns.front());
      lists[arm].elapsed_ns.push_back(one.elapsed_ns.front());
    }
  }
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    end_steady(arms_[i]);  // the window is all that was timed
    arms_[i].record.throughput.push_back(std::move(lists[i]));
    keep(sample_submission(*subjects_[i], setting_.timer, steps[i], kListSamples),
         arms_[i].record.submission);
    keep(sample_device(*subjects_[i], setting_.timer, steps[i], kListSamples),
         arms_[i].record.device);
  }
}

void BatchRun::keep(std::optional<Samples> list, std::vector<Samples>& lists) const {
  if (!list) return;
  list->process = setting_.plan.process;
  lists.push_back(std::move(*list));
}

void BatchRun::time_dispatch_alone() {
  for (Arm& arm : arms_) {
    if (arm.record.role != "arm") continue;
    arm.record.dispatch_empty_kernels =
        time_dispatch(setting_.spec.model, arm.choice.mode, batch_, arm.passes);
  }
}

void BatchRun::move_to(Record& record) {
  for (TimedPair& timed : pairs_) {
    PairRecord pair{.base = arms_[timed.pair.base].record.name,
                    .of = arms_[timed.pair.of].record.name,
                    .kind = timed.pair.kind};
    pair.processes.push_back(std::move(timed.blocks));
    record.pairs.push_back(std::move(pair));
  }
  pairs_.clear();
  for (Arm& arm : arms_) record.arms.push_back(std::move(arm.record));
}

}  // namespace stepscope
