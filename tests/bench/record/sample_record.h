// Records made up for tests: one with a value of its own in every field, and one that a run without
// its device leaves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/record/fields.h"

namespace stepscope::test {

// Puts a different value into every field of a struct, two entries into every list.
class Filler {
 public:
  template <class T>
  void fill(T& value) {
    if constexpr (requires { record_fields::fields([](const char*, auto&) {}, value); }) {
      record_fields::fields([this](const char*, auto& field) { fill(field); }, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      value = true;
    } else if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(++next_) + T(0.25);
    } else {
      static_assert(std::is_integral_v<T>);
      value = static_cast<T>(++next_);
    }
  }
  void fill(std::string& value) { value = fmt::format("text {}", ++next_); }
  void fill(std::pair<std::string, std::string>& value) { fill(value.first), fill(value.second); }
  void fill(std::pair<std::string, Facts>& value) { fill(value.first), fill(value.second); }
  // The first of two has a value, the second a reason.
  void fill(Fact& value) {
    fill(value.name);
    if (next_ % 2 == 0) {
      fill(value.value.emplace());
    } else {
      fill(value.reason);
    }
  }
  template <class T>
  void fill(std::optional<T>& value) {
    fill(value.emplace());
  }
  template <class T>
  void fill(std::vector<T>& values) {
    values.resize(2);
    for (T& value : values) fill(value);
  }
  template <class T, std::size_t count>
  void fill(std::array<T, count>& values) {
    for (T& value : values) fill(value);
  }

 private:
  std::int64_t next_ = 0;
};

// Texts that only certain words may stand in are words of theirs.
inline Record filled_record() {
  Record record;
  Filler().fill(record);
  record.schema = kRecordSchema;
  record.created = "2026-01-02T03:04:05Z";
  record.status = "complete";
  for (ArmRecord& arm : record.arms) {
    arm.role = "arm";
    arm.scope = "step-only";
    for (auto* lists : {&arm.latency, &arm.input_copy, &arm.throughput, &arm.submission,
                        &arm.device, &arm.warmup}) {
      for (Samples& list : *lists) {
        list.method = lists == &arm.throughput   ? "throughput"
                      : lists == &arm.submission ? "submission"
                      : lists == &arm.device     ? "device"
                                                 : "latency";
        list.covers = lists == &arm.submission ? "submitted-only" : "complete";
      }
    }
    for (MemoryWindow* window : {&arm.memory.first, &arm.memory.steady}) {
      *window = {.allocated = 1, .reserved = 2, .peak_allocated = 3, .peak_reserved = 4};
    }
    for (TimeSummary* summary :
         {&arm.latency_summary, &arm.input_copy_summary, &arm.throughput_summary,
          &arm.device_summary, &*arm.dispatch_empty_kernels}) {
      summary->median_coverage = 0.957;
    }
    arm.utilization.kernel_active_fraction = 0.5;
    arm.utilization.occupancy = 0.25;
    arm.utilization.active_sm_fraction = 0.75;
    arm.utilization.source = "counters";
  }
  for (PairRecord& pair : record.pairs) {
    pair.kind = "control";
    for (ProcessBlocks& process : pair.processes) {
      for (TimedBlock& block : process.blocks) block.order = "ABBA", block.stratum = "near";
    }
    for (RatioRecord& ratio : pair.ratios) ratio.verdict = "SAME", ratio.wins = 0.5;
  }
  for (GateRecord& gate : record.gates) gate.when = "after";
  for (BaselineRecord& row : record.baseline) row.verdict = "UNDECIDED";
  for (SubmissionRecord& row : record.submissions) row.activity = "training";
  for (EpochRecord& epoch : record.epochs) {
    epoch.partial_policy = "drop";
    epoch.validation_accuracy = 0.5;
  }
  record.schedule->claim = "working";
  return record;
}

// What can be said of a comparison whose device is missing: what would have been compared, and no
// number that only a run can give.
inline Record not_run_record() {
  Record record;
  record.version = "1.2.3";
  record.command = "stepscope compare --backend cuda";
  record.created = "2026-01-02T03:04:05Z";
  record.status = "not-run";
  record.status_reason = "cuda: no device";
  record.environment = {{"gpu_name", std::nullopt, "libnvidia-ml.so.1: not found"}};
  ArmRecord arm;
  arm.name = "cuda/graph/off/32";
  arm.backend = "cuda";
  arm.mode_requested = "graph";
  arm.batch = 32;
  arm.utilization.reason = "no device";
  record.arms.push_back(arm);
  record.calibration = {{.name = "stamp_cost", .unit = "ns", .reason = "no device"}};
  record.notes = {"a plan: nothing was measured"};
  return record;
}

}  // namespace stepscope::test
