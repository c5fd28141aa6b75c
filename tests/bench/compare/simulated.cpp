// Slots of a machine that behaves as told.
// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/compare/simulated.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "bench/compare/schedule.h"

namespace stepscope::test {
namespace {

class Machine {
 public:
  Machine(const Noise& noise, std::uint64_t seed) : noise_(noise), random_(seed, 77) {}

  void begin_process() {
    now_ns_ = 0;
    slots_ = 0;
    effect_ = std::exp(noise_.process * random_.normal());
  }

  TimedSlot slot(double step_ns, std::int64_t steps, std::size_t place) {
    double time = step_ns * (1.0 + noise_.drift_per_slot * static_cast<double>(slots_++)) *
                  std::exp(noise_.slot * random_.normal());
    if (place % 2 == 1) time *= 1.0 + noise_.second_slot;
    if (place == 0) time *= 1.0 + noise_.first_slot;
    if (random_.uniform() < noise_.spike_share) {
      time *= 1.0 - noise_.spike_mean * std::log(1.0 - random_.uniform());
    }
    TimedSlot slot;
    slot.start_ns = now_ns_;
    slot.elapsed_ns = std::llround(time * static_cast<double>(steps));
    slot.thread_cpu_ns = slot.elapsed_ns;
    slot.process_cpu_ns = slot.elapsed_ns;
    now_ns_ += slot.elapsed_ns;
    return slot;
  }

  std::int64_t sentinel() {
    return std::llround(100'000.0 * std::exp(noise_.sentinel * random_.normal()));
  }

  double effect() const { return effect_; }

 private:
  Noise noise_;
  Philox random_;
  std::int64_t now_ns_ = 0, slots_ = 0;
  double effect_ = 1.0;
};

}  // namespace

ArmRecord arm(const std::string& name, const std::string& role) {
  ArmRecord arm;
  arm.name = name;
  arm.role = role;
  arm.backend = "eigen";
  arm.mode_requested = arm.mode_executed = "eager";
  arm.batch = 32;
  arm.work = {{"model", "mlp:784-128-10"}, {"dtype", "f32"}, {"threads", "1"}};
  arm.work_hash = "ab12";
  arm.protocol_hash = "cd34";
  arm.includes = {"input_copy"};
  return arm;
}

PairRecord simulated_pair(const Simulation& simulation, const std::string& base,
                          const std::string& of, double ratio, std::uint64_t seed,
                          const std::string& kind) {
  Machine machine(simulation.noise, seed);
  PairRecord pair{.base = base, .of = of, .kind = kind};
  for (std::int64_t process = 0; process < simulation.processes; ++process) {
    machine.begin_process();
    ProcessBlocks& blocks = pair.processes.emplace_back();
    blocks.process = process;
    blocks.base_steps = blocks.of_steps = simulation.steps;
    std::int64_t sentinel = machine.sentinel();
    for (const BlockPlan& plan : block_plan(1, simulation.blocks, seed, process)) {
      TimedBlock& block = blocks.blocks.emplace_back();
      block.order = plan.abba ? "ABBA" : "BAAB";
      block.stratum = simulation.stratum;
      for (std::size_t i = 0; i < 4; ++i) {
        const double of_base = block.order[i] == 'A' ? 1.0 : ratio * machine.effect();
        block.slots[i] = machine.slot(simulation.base_step_ns * of_base, simulation.steps, i);
      }
      block.sentinel_before_ns = sentinel;
      block.sentinel_after_ns = sentinel = machine.sentinel();
    }
  }
  return pair;
}

Record simulated_record(const Simulation& simulation, const std::vector<double>& ratios,
                        std::uint64_t seed) {
  Record record;
  record.experiment_id = "one";
  record.arms.push_back(arm("base"));
  record.arms.push_back(arm("base/again", "control"));
  // Far from each other: seeds of neighbouring trials must not share a pair's noise.
  std::uint64_t next = seed * 1000;
  record.pairs.push_back(simulated_pair(simulation, "base", "base/again", 1.0, next++, "control"));
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const std::string name = "arm" + std::to_string(i);
    record.arms.push_back(arm(name));
    record.pairs.push_back(simulated_pair(simulation, "base", name, ratios[i], next++));
  }
  return record;
}

const RatioRecord& ratio_of(const Record& record, const std::string& of,
                            const std::string& stratum) {
  for (const PairRecord& pair : record.pairs) {
    if (pair.of != of) continue;
    for (const RatioRecord& ratio : pair.ratios) {
      if (ratio.stratum == stratum || ratio.stratum.empty()) return ratio;
    }
  }
  throw std::runtime_error("no ratio of " + of + " in stratum " + stratum);
}

bool has_flag(const std::vector<std::string>& flags, const std::string& name) {
  return std::any_of(flags.begin(), flags.end(), [&](const std::string& flag) {
    return flag == name || flag.rfind(name + ":", 0) == 0;
  });
}

}  // namespace stepscope::test
