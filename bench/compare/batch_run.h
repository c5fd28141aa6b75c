// BatchRun: one backend at one batch size, in one process: its arms from making them to the last
// gate.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bench/compare/arm.h"
#include "bench/compare/compare.h"
#include "bench/compare/gating.h"
#include "bench/compare/pairs.h"
#include "bench/measure/subject.h"
#include "bench/measure/timer.h"

namespace stepscope {

class BatchRun {
 public:
  // What of the process and its plan a batch needs to know. Borrows all of it.
  struct Setting {
    const CompareSpec& spec;
    Backend& backend;
    const InputRing& ring;
    const ProcessPlan& plan;
    Timer& timer;
  };

  BatchRun(const Setting& setting, std::int64_t batch);

  // Gates of this process, numbered; `first` as Gating::run.
  std::vector<GateRecord> gate(std::string_view when, std::int64_t first);
  std::vector<GateRecord> gate_with_reference(const Registry& registry);

  // Exact counts, warm-up, memory windows, and lists of steps waited for one by one.
  void warm_up();
  // The blocks of all pairs. `sentinels` gets one more time than there are blocks.
  void run_blocks(std::vector<std::int64_t>& sentinels, const std::function<void(double)>& done);
  // Throughput lists, interleaved; then summaries.
  void finish();
  // Time of dispatch alone, on empty kernels.
  void time_dispatch_alone();

  void move_to(Record& record);

 private:
  struct TimedPair {
    ArmPair pair;
    ProcessBlocks blocks;
  };

  void add_repeated_arms();
  void keep(std::optional<Samples> list, std::vector<Samples>& lists) const;
  TimedPair timed_pair(const ArmPair& pair) const;
  TimedBlock run_block(const TimedPair& timed, bool base_first);

  Setting setting_;
  std::int64_t batch_;
  std::vector<Arm> arms_;
  std::optional<Gating> gating_;
  std::vector<std::byte> start_;  // snapshot of the model segment every slot begins with
  std::vector<std::unique_ptr<SessionSubject>> subjects_;  // one of each arm
  std::vector<TimedPair> pairs_;
  std::string stratum_;                   // of the block to come
  std::vector<std::int64_t> slot_steps_;  // of each arm: those that fill a slot
};

}  // namespace stepscope
