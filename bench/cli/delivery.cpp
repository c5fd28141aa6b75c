// Beginning a record and delivering it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <span>

#include "bench/cli/commands.h"
#include "bench/cli/progress.h"
#include "bench/cli/read_record.h"
#include "bench/cli/report_files.h"
#include "bench/files/files.h"
#include "bench/measure/begin_record.h"
#include "bench/measure/git_state.h"
#include "bench/record/json.h"
#include "bench/report/document.h"
#include "bench/train/checkpoint.h"
#include "ops/base/check.h"

namespace stepscope::cli {

Record begin_record(const Context& context) {
  Record record = stepscope::begin_record(STEPSCOPE_VERSION, context.command_line);
  record.environment.push_back(git_state());
  return record;
}

namespace {

struct Place {
  std::string_view flag;
  std::filesystem::path given;
  std::filesystem::path path;  // what it names, whatever way
};

void add_record(std::vector<Place>& to, std::string_view flag, const std::string& given) {
  if (given.empty()) return;
  std::filesystem::path path = given;
  try {
    path = record_path(given);
  } catch (const Error&) {  // whoever reads it says so
  }
  std::error_code error;
  to.push_back({flag, path, std::filesystem::weakly_canonical(path, error)});
}

}  // namespace

void check_outputs(const Flags& flags) { check_outputs(flags, output_names()); }

void check_outputs(const Flags& flags, const std::vector<std::filesystem::path>& out) {
  std::vector<Place> written;
  const auto add = [](std::vector<Place>& to, std::string_view flag, const std::string& file) {
    std::error_code error;
    if (!file.empty()) to.push_back({flag, file, std::filesystem::weakly_canonical(file, error)});
  };
  for (const std::filesystem::path& name : out) {
    if (!flags.out.empty()) {
      add(written, "--out", (std::filesystem::path(flags.out) / name).string());
    }
  }
  add(written, "--json", json_on_stdout(flags) ? "" : flags.json);
  add(written, "--report", flags.lab.report);
  add(written, "--checkpoint", flags.checkpoint);
  add(written, "--save-weights", flags.save_weights);
  std::vector<Place> taken;  // read, or written by a flag before
  add(taken, "--resume", flags.resume);
  add(taken, "--weights", flags.weights);
  add(taken, "--weights-map", flags.weights_map);
  add(taken, "--tune", flags.tune);
  add_record(taken, "--baseline", flags.baseline);
  for (const std::string& record : flags.records) add_record(taken, kFilesOperand, record);
  for (const Place& place : written) {
    for (const Place& other : taken) {
      const bool goes_on = place.flag == "--checkpoint" && other.flag == "--resume";
      if (goes_on || place.path != other.path) continue;
      throw UsageError(
          fmt::format("{} and {}: both name {}", place.flag, other.flag, place.given.string()));
    }
    taken.push_back(place);
  }
  for (const Place& place : written) {
    if (place.flag == "--checkpoint") {
      check_checkpoint_can_be_written(place.given);
    } else {
      check_can_be_written(place.given);
    }
  }
}

bool json_on_stdout(const Flags& flags) { return flags.json == "-"; }

void write_json(const Record& record, const Flags& flags) {
  const std::string json = to_json(record);
  if (json_on_stdout(flags)) {
    const bool written =
        std::fwrite(json.data(), 1, json.size(), stdout) == json.size() && std::fflush(stdout) == 0;
    check(written, Fault::io, "standard output: the record cannot be written");
  } else {
    write_file(flags.json, json);
    if (!flags.quiet) fmt::print(stderr, "record: {}\n", flags.json);
  }
}

namespace {

// Writes all of --out. Why there is no report beside the record; empty: there is.
std::string deliver_folder(const Record& record, const Flags& flags,
                           std::vector<FileContent> more) {
  const std::filesystem::path folder = flags.out;
  ReportFiles report;
  std::string failure;
  try {
    report = report_files(document_of(std::span(&record, 1)),
                          {std::begin(kReportForms), std::end(kReportForms)}, folder);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (is_interrupted()) {  // pictures may be missing
    failure = "interrupted";
    report = {};
  }
  const std::string said = names_text(report, folder);
  // Beside this record a report of another run would pass for that of this one.
  if (!failure.empty()) report.stale = older_report(folder);
  std::vector<FileContent> files;
  files.push_back({folder / kRecordFile, to_json(record)});
  for (std::vector<FileContent>* list : {&more, &report.files}) {
    std::move(list->begin(), list->end(), std::back_inserter(files));
  }
  report.files = std::move(files);
  write_report(report);
  if (!failure.empty() && !report.stale.empty()) {
    failure += older_report(folder).empty() ? "; the report of another run there was removed"
                                            : "; the report there is one of another run";
  }
  if (!flags.quiet) {
    fmt::print(stderr, "record: {}\n", (folder / kRecordFile).string());
    if (failure.empty()) fmt::print(stderr, "report: {}\n", said);
  }
  return failure;
}

}  // namespace

void deliver(const Record& record, const Flags& flags, std::vector<FileContent> more) {
  std::string failure;
  if (!flags.out.empty()) failure = deliver_folder(record, flags, std::move(more));
  if (!flags.json.empty()) write_json(record, flags);
  check(failure.empty(), Fault::device, "{}: the record is written, and no report of it: {}",
        flags.out, failure);
}

Data data_for(const Options& options) {
  // Fashion-MNIST has 28 x 28 images in ten classes.
  const bool fits = options.model.features == 28 * 28 &&
                    (options.model.classes == 10 || options.model.classes == 0);
  std::string source = options.flags.data;
  if (source.empty()) source = fits ? "fashion-mnist" : "generated";
  try {
    check_data_name(source);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  return load_fitting(source, options.model.name, options.model.features, options.model.classes);
}

}  // namespace stepscope::cli
