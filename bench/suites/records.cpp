// The records that --raw writes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "bench/compare/bounds.h"
#include "bench/compare/merge.h"
#include "bench/files/files.h"
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

}  // namespace

Suite::Kept& Suite::kept_of(const std::string& model) {
  const auto known = kept_.find(model);
  if (known != kept_.end()) return known->second;
  Kept& kept = kept_[model];
  kept.record = head_;
  if (!model.empty()) {
    const OptimizerSpec optimizer;
    kept.record.work = {.model = model,
                        .optimizer = std::string(name(optimizer.kind)),
                        .rate = optimizer.rate,
                        .data = flags_.data,
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

void Suite::complete(Kept& kept) {
  Record& record = kept.record;
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
  std::vector<std::string> backends;
  for (const auto& [backend, details] : record.backends) backends.push_back(backend);
  record.processes.push_back({.backend = fmt::format("{}", fmt::join(backends, ",")),
                              .core_distance = "not measured",
                              .peak_rss = process_memory().peak_rss});
  for (ArmRecord& arm : record.arms) {
    arm.protocol_hash = record.protocol_hash;
    summarize_lists(arm);
    if (!machine_.empty() && !arm.throughput.empty()) add_bounds(arm, limits_);
  }
  if (flags_.threads > 1 && backends.size() > 1) {
    record.notes.emplace_back(
        "backends ran in one process: their threads disturb each other, name one of them");
  }
  for (const std::string& problem : problems(record)) {
    record.notes.push_back(fmt::format("the record contradicts itself: {}", problem));
    failed_ = true;
  }
}

// One model, one file; of several each has its own beside the name that was given.
std::string Suite::file_of(const std::string& model) const {
  if (flags_.models.size() < 2 || model.empty()) return flags_.raw;
  std::string text = model;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ':' || c == '/'; }, '-');
  const std::filesystem::path path = flags_.raw;
  const std::string stem = fmt::format("{}-{}", path.stem().string(), text);
  return (path.parent_path() / (stem + path.extension().string())).string();
}

void Suite::write_records() {
  std::vector<FileContent> files;
  for (auto& [model, kept] : kept_) {
    complete(kept);
    files.push_back({file_of(model), to_json(kept.record)});
  }
  write_files(files);
  for (const FileContent& file : files) fmt::print(stderr, "record: {}\n", file.path.string());
}

}  // namespace stepscope::suites
