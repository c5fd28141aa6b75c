// stepscope report: records made into a page, Markdown and tables; several side by side, and each
// against the oldest that did the same work.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <optional>

#include "bench/cli/color.h"
#include "bench/cli/commands.h"
#include "bench/cli/progress.h"
#include "bench/cli/read_record.h"
#include "bench/cli/report_files.h"
#include "bench/cli/run_text.h"
#include "bench/compare/analysis.h"
#include "bench/compare/baseline.h"
#include "bench/report/document.h"
#include "bench/report/renderers.h"
#include "bench/report/sentences.h"
#include "ops/base/error.h"
#include "ops/base/nearest.h"

namespace stepscope::cli {
namespace {

std::vector<std::string> all_forms() { return {std::begin(kReportForms), std::end(kReportForms)}; }

// A record that was given, and with what it was compared.
struct Given {
  std::string name;
  Record record;
  std::string against;   // name and time of the older record; empty: none
  bool is_base = false;  // of --baseline: one run is not compared with itself
};

std::vector<std::string> forms_of(const Flags& flags) {
  return flags.forms.empty() ? all_forms() : flags.forms;
}

// Whether a form, in place of the text, goes to standard output.
bool form_on_stdout(const Flags& flags) { return flags.out.empty() && !flags.forms.empty(); }

void check_forms(const Flags& flags) {
  const std::vector<std::string> known = all_forms();
  for (const std::string& form : flags.forms) {
    if (std::find(known.begin(), known.end(), form) != known.end()) continue;
    throw UsageError(unknown_name("format", form, known));
  }
  if (!form_on_stdout(flags)) return;
  const std::string given = fmt::format("{}", fmt::join(flags.forms, ","));
  if (flags.forms.size() > 1 || given == "csv") {
    throw UsageError(fmt::format("--format {}: is more than one file, add --out DIR", given));
  }
  if (json_on_stdout(flags)) {
    throw UsageError(
        fmt::format("--format {} and --json -: both go to standard output, add --out DIR", given));
  }
}

void check_flags(const Flags& flags) {
  if (flags.records.empty()) {
    throw UsageError(
        "report: of which records? give files, folders that hold a record.json, or - for standard "
        "input");
  }
  check_forms(flags);
  const auto from_stdin = std::count(flags.records.begin(), flags.records.end(), kStandardInput) +
                          (flags.baseline == kStandardInput ? 1 : 0);
  if (from_stdin > 1) throw UsageError("report: standard input holds one record, - stands twice");
  if (!flags.json.empty() && flags.records.size() > 1) {
    throw UsageError(fmt::format("--json: is for one record, {} are given", flags.records.size()));
  }
}

// All that follows from what was measured, as this version has it. What was measured stays.
void judge_again(Record& record, const std::string& name) {
  const bool blocks = std::any_of(record.pairs.begin(), record.pairs.end(),
                                  [](const PairRecord& pair) { return !pair.processes.empty(); });
  if (!blocks) throw UsageError(fmt::format("--judge: {} has no blocks to judge by", name));
  analyze(record);
  std::string note =
      fmt::format("judged again from its raw blocks by stepscope {}", STEPSCOPE_VERSION);
  if (std::find(record.notes.begin(), record.notes.end(), note) == record.notes.end()) {
    record.notes.push_back(std::move(note));
  }
  record.summary = sentences(record);
}

std::vector<Given> read_all(const Flags& flags) {
  std::vector<Given> all;
  for (const std::string& file : flags.records) {
    all.push_back({file == kStandardInput ? "standard input" : file, read_record(file), ""});
    if (flags.judge) judge_again(all.back().record, all.back().name);
    const std::string& id = all.back().record.experiment_id;
    const auto same = std::find_if(all.begin(), all.end() - 1, [&](const Given& other) {
      return !id.empty() && other.record.experiment_id == id;
    });
    if (same == all.end() - 1) continue;
    throw UsageError(
        fmt::format("report: {} and {} are one run, {}", same->name, all.back().name, id));
  }
  return all;
}

// Whether both timed one arm: of one name, and of one work.
bool share_an_arm(const Record& a, const Record& b) {
  return std::any_of(a.arms.begin(), a.arms.end(), [&](const ArmRecord& arm) {
    return arm.role == "arm" && !arm.throughput.empty() && !arm.work_hash.empty() &&
           std::any_of(b.arms.begin(), b.arms.end(), [&](const ArmRecord& other) {
             return other.name == arm.name && other.work_hash == arm.work_hash &&
                    !other.throughput.empty();
           });
  });
}

std::string told(const std::string& name, const Record& record) {
  return record.created.empty() ? name : fmt::format("{} of {}", name, record.created);
}

// The oldest record that `at` shares an arm with, if that is not `at` itself. Of two that were made
// in one second the one that is given first is the older.
const Given* oldest_alike(const std::vector<Given>& all, const Given& at) {
  const Given* oldest = &at;
  for (const Given& other : all) {
    if (&other == &at || !share_an_arm(other.record, at.record)) continue;
    const int order = other.record.created.compare(oldest->record.created);
    if (order < 0 || (order == 0 && &other < oldest)) oldest = &other;
  }
  return oldest == &at ? nullptr : oldest;
}

void compare_all(std::vector<Given>& all, const Flags& flags) {
  std::optional<Record> baseline;
  if (!flags.baseline.empty()) baseline = read_baseline(flags.baseline);
  for (Given& each : all) {
    const std::string& id = each.record.experiment_id;
    each.is_base = baseline && !id.empty() && id == baseline->experiment_id;
    if (each.is_base && all.size() == 1) {
      throw UsageError(
          fmt::format("--baseline {}: is the same run as {}, {}", flags.baseline, each.name, id));
    }
    if (each.is_base) continue;
    const Given* const older = baseline ? nullptr : oldest_alike(all, each);
    if (!baseline && older == nullptr) continue;
    each.record.baseline = compare_with_baseline(each.record, baseline ? *baseline : older->record);
    each.against = baseline ? told(flags.baseline, *baseline) : told(older->name, older->record);
  }
}

// What was compared with what, a line for each.
std::vector<std::string> comparisons(const std::vector<Given>& all) {
  std::vector<std::string> lines;
  for (const Given& each : all) {
    if (each.is_base) {
      lines.push_back(fmt::format("{} is the baseline itself, and compared with nothing",
                                  told(each.name, each.record)));
    }
    if (each.against.empty()) continue;
    lines.push_back(fmt::format("{} is compared with {}, each in units of its own run's sentinel",
                                told(each.name, each.record), each.against));
  }
  return lines;
}

Document document_of_all(const std::vector<Given>& all) {
  std::vector<Record> records;
  records.reserve(all.size());
  for (const Given& each : all) records.push_back(each.record);
  Document document = document_of(records);
  const auto verdicts =
      std::find_if(document.sections.begin(), document.sections.end(),
                   [](const Section& section) { return section.id == "verdicts"; });
  if (verdicts != document.sections.end()) {
    for (std::string& line : comparisons(all)) verdicts->notes.push_back(std::move(line));
  }
  return document;
}

std::string text_of_all(const std::vector<Given>& all) {
  std::string text;
  for (const Given& each : all) {
    if (all.size() > 1) {
      text += fmt::format("{}== {} ==\n", text.empty() ? "" : "\n", told(each.name, each.record));
    }
    text += record_text(each.record);
  }
  const std::vector<std::string> lines = comparisons(all);
  if (!lines.empty()) text += fmt::format("\n{}\n", fmt::join(lines, "\n"));
  return text;
}

void tell(const std::vector<Given>& all, const Flags& flags) {
  if (json_on_stdout(flags)) return;
  if (!form_on_stdout(flags)) {
    print_text(text_of_all(all), flags.color);
  } else {
    const Document document = document_of_all(all);
    const std::string text =
        flags.forms.front() == "md" ? markdown(document) : html(document, find_gnuplot());
    stop_if_interrupted();  // pictures may be missing
    fmt::print("{}", text);
  }
  std::fflush(stdout);  // before what is said on standard error
}

void write_out(const std::vector<Given>& all, const Flags& flags) {
  if (flags.out.empty()) return;
  const ReportFiles report = report_files(document_of_all(all), forms_of(flags), flags.out);
  stop_if_interrupted();
  write_report(report);
  if (!flags.quiet) fmt::print(stderr, "report: {}\n", names_text(report, flags.out));
}

}  // namespace

Record read_baseline(const std::string& file) {
  try {
    return read_record(file);
  } catch (const Error& error) {
    throw UsageError(fmt::format("--baseline: {}", error.what()));
  }
}

int run_report(const Options& options, const Context& context) {
  static_cast<void>(context);
  const Flags& flags = options.flags;
  check_flags(flags);
  check_outputs(flags, report_names(forms_of(flags)));
  std::vector<Given> all = read_all(flags);
  compare_all(all, flags);
  tell(all, flags);
  write_out(all, flags);
  if (!flags.json.empty()) write_json(all.front().record, flags);
  return 0;
}

}  // namespace stepscope::cli
