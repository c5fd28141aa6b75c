// The records that --raw writes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "bench/compare/bounds.h"
#include "bench/compare/merge.h"
#include "bench/files/files.h"
#include "bench/measure/facts_hash.h"
#include "bench/measure/process_memory.h"
#include "bench/measure/row_values.h"
#include "bench/measure/sampler.h"
#include "bench/measure/validate.h"
#include "bench/record/json.h"
#include "bench/suites/suite.h"
#include "ops/base/check.h"

namespace stepscope::suites {
namespace {

void summarize_lists(ArmRecord& arm) {
  if (!arm.throughput.empty()) arm.throughput_summary = summarize(arm.throughput);
  if (!arm.latency.empty()) arm.latency_summary = summarize(arm.latency);
  if (!arm.input_copy.empty()) arm.input_copy_summary = summarize(arm.input_copy);
}

// near or far, without the time behind it.
std::string core_distance(const Record& record) {
  for (const Fact& fact : record.environment) {
    if (fact.name == "core_distance" && fact.value)
      return fact.value->substr(0, fact.value->find(','));
  }
  return "not measured";
}

}  // namespace

Suite::Kept& Suite::kept_of(const std::string& model) {
  const auto known = kept_.find(model);
  if (known != kept_.end()) return known->second;
  Kept& kept = kept_[model];
  kept.record = head_;
  // Records of one run are several experiments: `stepscope report` takes them side by side.
  kept.record.experiment_id = hash_of({{"run", head_.experiment_id}, {"model", model}})
                                  .substr(0, head_.experiment_id.size());
  if (!model.empty()) {
    const OptimizerSpec optimizer;
    kept.record.work = {.model = model,
                        .optimizer = std::string(name(optimizer.kind)),
                        .rate = optimizer.rate,
                        .data = "noise",
                        .seed = flags_.seed};
  }
  return kept;
}

void Suite::keep(const std::string& model, ArmRecord arm) {
  Record part;
  part.arms.push_back(std::move(arm));
  add_process(kept_of(model).record, std::move(part));
}

void Suite::keep(const std::string& model, const std::string& name, std::string_view unit,
                 std::string_view note, std::span<const double> values) {
  auto& rows = kept_of(model).rows;
  auto row = std::find_if(rows.begin(), rows.end(),
                          [&](const auto& other) { return other.first == name; });
  if (row == rows.end()) {
    rows.emplace_back(name, Values{std::string(unit), std::string(note), {}});
    row = std::prev(rows.end());
  }
  row->second.values.insert(row->second.values.end(), values.begin(), values.end());
}

void Suite::keep(const std::string& model, const std::string& backend, const BackendInfo& info) {
  auto& backends = kept_of(model).record.backends;
  const bool known = std::any_of(backends.begin(), backends.end(),
                                 [&](const auto& other) { return other.first == backend; });
  if (!known) backends.emplace_back(backend, info.details);
}

void Suite::complete(const std::string& model, Kept& kept) {
  Record& record = kept.record;
  const auto source = sources_.find(model);
  if (source != sources_.end()) record.work.data = source->second;
  record.notes.insert(record.notes.end(), failures_.begin(), failures_.end());
  record.calibration = machine_;
  for (const auto& [name, kept_values] : kept.rows) {
    CalibrationRow row{.name = name, .unit = kept_values.unit, .note = kept_values.note};
    if (kept_values.values.empty()) {
      row.reason = "it was not timed";
    } else {
      fill(row, kept_values.values);
    }
    record.calibration.push_back(std::move(row));
  }
  const auto add_process_of = [&](const std::string& backend) {
    record.processes.push_back({.backend = backend,
                                .core_distance = core_distance(record),
                                .peak_rss = process_memory().peak_rss});
  };
  for (const auto& [backend, details] : record.backends) add_process_of(backend);
  if (record.backends.empty()) add_process_of("");
  for (ArmRecord& arm : record.arms) {
    arm.protocol_hash = record.protocol_hash;
    summarize_lists(arm);
    if (!machine_.empty() && !arm.throughput.empty()) add_bounds(arm, limits_);
  }
  if (flags_.threads > 1 && record.backends.size() > 1) {
    record.notes.emplace_back(
        "backends ran in one process: their threads disturb each other, name one of them");
  }
  for (const std::string& problem : problems(record)) {
    record.notes.push_back(fmt::format("the record contradicts itself: {}", problem));
    failed_ = true;
  }
}

void Suite::write_records() {
  if (kept_.empty()) {
    fmt::print(stderr, "{}: nothing was measured, so no record was written to {}\n", program_.name,
               flags_.raw);
    failed_ = true;
    return;
  }
  std::vector<FileContent> files;
  for (auto& [model, kept] : kept_) {
    complete(model, kept);
    files.push_back({raw_file(flags_, model), to_json(kept.record)});
  }
  write_files(files);
  for (const FileContent& file : files) fmt::print(stderr, "record: {}\n", file.path.string());
}

}  // namespace stepscope::suites
