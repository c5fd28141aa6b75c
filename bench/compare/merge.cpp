// Merging records of processes by the names of arms.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/merge.h"

#include <algorithm>
#include <iterator>

#include "bench/compare/compare.h"
#include "bench/compare/pairs.h"
#include "bench/measure/facts_hash.h"
#include "bench/measure/peak.h"
#include "bench/measure/sampler.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

ArmRecord* find_arm(Record& record, const std::string& name) {
  const auto at = std::find_if(record.arms.begin(), record.arms.end(),
                               [&](const ArmRecord& arm) { return arm.name == name; });
  return at == record.arms.end() ? nullptr : &*at;
}

// What must not change from process to process.
void check_same(const ArmRecord& first, const ArmRecord& other, std::int64_t process) {
  check(first.work_hash == other.work_hash, Fault::device,
        "compare: {} did other work in process {} than before", first.name, process);
  const StepCounts& a = first.counts;
  const StepCounts& b = other.counts;
  check(a.ops == b.ops && a.submissions == b.submissions && a.calls == b.calls, Fault::device,
        "compare: {} made {} calls of {} ops in process {}, and {} of {} before", first.name,
        b.calls, b.ops, process, a.calls, a.ops);
}

void add_arm(Record& record, ArmRecord&& arm, std::int64_t process) {
  ArmRecord* const known = find_arm(record, arm.name);
  if (known == nullptr) {
    record.arms.push_back(std::move(arm));
    return;
  }
  // An arm that was not timed, because of a failed gate, has no counts.
  if (!known->mode_executed.empty() && !arm.mode_executed.empty()) {
    check_same(*known, arm, process);
  }
  if (known->latency.empty()) known->memory = std::move(arm.memory);  // of the first process
  append(known->one_off, std::move(arm.one_off));
  append(known->latency, std::move(arm.latency));
  append(known->input_copy, std::move(arm.input_copy));
  append(known->throughput, std::move(arm.throughput));
  append(known->submission, std::move(arm.submission));
  append(known->warmup, std::move(arm.warmup));
}

// Operations per second by the calibration; 0 when it has none.
double peak_of_core(const Record& record) {
  constexpr double kGiga = 1e9;
  for (const CalibrationRow& row : record.calibration) {
    if (row.name == "fma_peak" && row.value) return kGiga * *row.value;
  }
  return 0.0;
}

// Only where something is computed, and only if it is a bound: a processor whose clock was lower
// when its peak was probed may have been faster than that later.
void add_arithmetic_bound(ArmRecord& arm, double peak_of_core) {
  if (!arm.utilization.reason.empty()) return;
  arm.utilization.reason = "a backend of the processor: no device counts for it";
  if (peak_of_core <= 0.0 || arm.flops <= 0.0) return;
  constexpr double kNsPerUs = 1e3;
  const double bound = arith_lower_bound_us(arm.flops, peak_of_core * arm.threads);
  const double least = std::min(arm.latency_summary.min_ns, arm.throughput_summary.min_ns);
  if (bound * kNsPerUs <= least) {
    arm.utilization.arith_lower_bound_us = bound;
  } else {
    arm.utilization.reason +=
        "; no bound by arithmetic: the processor was slower when its peak was probed";
  }
}

// The machine is calibrated once; what is a backend's own, for each.
void add_calibration(Record& record, Record& part) {
  if (record.calibration.empty()) {
    record.calibration = std::move(part.calibration);
    return;
  }
  for (CalibrationRow& row : part.calibration) {
    if (row.name != "empty_sync" && row.name != "library_call" && row.name != "fork_join") continue;
    row.name = fmt::format("{}/{}", row.name, part.processes.front().backend);
    record.calibration.push_back(std::move(row));
  }
}

void add_pair(Record& record, PairRecord&& pair) {
  const auto known = std::find_if(
      record.pairs.begin(), record.pairs.end(),
      [&](const PairRecord& other) { return other.base == pair.base && other.of == pair.of; });
  if (known == record.pairs.end()) {
    record.pairs.push_back(std::move(pair));
  } else {
    append(known->processes, std::move(pair.processes));
  }
}

}  // namespace

void add_process(Record& record, Record&& part) {
  const std::int64_t process = part.processes.empty() ? 0 : part.processes.front().process;
  for (auto& backend : part.backends) {
    const bool known = std::any_of(record.backends.begin(), record.backends.end(),
                                   [&](const auto& other) { return other.first == backend.first; });
    if (!known) record.backends.push_back(std::move(backend));
  }
  add_calibration(record, part);
  append(record.processes, std::move(part.processes));
  append(record.gates, std::move(part.gates));
  for (ArmRecord& arm : part.arms) add_arm(record, std::move(arm), process);
  for (PairRecord& pair : part.pairs) add_pair(record, std::move(pair));
}

void add_pilot(Record& record, Record&& part) {
  part.pairs.clear();
  for (ArmRecord& arm : part.arms) {
    for (auto* lists :
         {&arm.latency, &arm.input_copy, &arm.throughput, &arm.submission, &arm.warmup}) {
      lists->clear();
    }
    arm.one_off.clear();
    arm.memory = {};
  }
  const std::size_t processes = record.processes.size();
  add_process(record, std::move(part));
  record.processes.resize(processes);
}

void complete_record(Record& record) {
  const double peak = peak_of_core(record);
  for (PairRecord& pair : pairs_between_backends(record.arms)) {
    record.pairs.push_back(std::move(pair));
  }
  record.protocol = protocol_facts();
  record.protocol_hash = hash_of(record.protocol);
  for (ArmRecord& arm : record.arms) {
    arm.protocol_hash = record.protocol_hash;
    arm.includes = {"input_copy"};
    if (!arm.throughput.empty()) arm.throughput_summary = summarize(arm.throughput);
    if (arm.latency.empty()) continue;
    arm.latency_summary = summarize(arm.latency);
    arm.input_copy_summary = summarize(arm.input_copy);
    add_arithmetic_bound(arm, peak);
  }
}

}  // namespace stepscope
