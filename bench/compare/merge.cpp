// Merging records of processes by the names of arms.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/merge.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "bench/compare/bounds.h"
#include "bench/compare/compare.h"
#include "bench/compare/pairs.h"
#include "bench/measure/facts_hash.h"
#include "bench/measure/limits.h"
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
  append(known->device, std::move(arm.device));
  append(known->warmup, std::move(arm.warmup));
}

bool is_of_backend(const CalibrationRow& row) {
  return row.name == "empty_sync" || row.name == "library_call" || row.name == "fork_join";
}

// Where there are several backends, the rows of the first bear its name as well.
void name_first_backend(Record& record) {
  for (CalibrationRow& row : record.calibration) {
    if (!is_of_backend(row) || record.backends.empty()) continue;
    row.name = fmt::format("{}/{}", row.name, record.backends.front().first);
  }
}

// The machine is calibrated once; what is a backend's own, for each; the best rates are those of
// all processes.
void add_calibration(Record& record, Record& part) {
  const bool first = std::all_of(record.calibration.begin(), record.calibration.end(), is_best);
  for (CalibrationRow& row : part.calibration) {
    if (is_best(row)) {
      keep_best(record.calibration, row);
      continue;
    }
    if (!first) {
      if (!is_of_backend(row)) continue;
      name_first_backend(record);
      row.name = fmt::format("{}/{}", row.name, part.processes.front().backend);
    }
    // In front of the best rows, which stay the last.
    const auto best = std::find_if(record.calibration.begin(), record.calibration.end(), is_best);
    record.calibration.insert(best, std::move(row));
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
    for (auto* lists : {&arm.latency, &arm.input_copy, &arm.throughput, &arm.submission,
                        &arm.device, &arm.warmup}) {
      lists->clear();
    }
    arm.one_off.clear();
    arm.memory = {};
  }
  const std::size_t processes = record.processes.size();
  add_process(record, std::move(part));
  record.processes.resize(processes);
}

void complete_record(Record& record, const CacheSizes& caches) {
  const MachineLimits limits = limits_of(record.calibration, caches);
  const std::map<std::string, double> slots = fastest_slots_us(record.pairs);
  for (PairRecord& pair : pairs_between_backends(record.arms)) {
    record.pairs.push_back(std::move(pair));
  }
  record.protocol = protocol_facts();
  record.protocol_hash = hash_of(record.protocol);
  for (ArmRecord& arm : record.arms) {
    arm.protocol_hash = record.protocol_hash;
    arm.includes = {"input_copy"};
    if (!arm.throughput.empty()) arm.throughput_summary = summarize(arm.throughput);
    if (!arm.device.empty()) arm.device_summary = summarize(arm.device);
    if (arm.latency.empty()) continue;
    arm.latency_summary = summarize(arm.latency);
    arm.input_copy_summary = summarize(arm.input_copy);
    const auto slot = slots.find(arm.name);
    add_bounds(arm, limits, slot == slots.end() ? std::nullopt : std::optional(slot->second));
  }
}

}  // namespace stepscope
