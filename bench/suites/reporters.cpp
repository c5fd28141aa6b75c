// Tables that begin with a failure, and files on a full disk.
// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/reporters.h"

#include <algorithm>
#include <ostream>
#include <vector>

namespace stepscope::suites {
namespace {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // announced, never done
// The library makes the head of a table of the first rows, and ends the program at a counter that
// is not in it. A benchmark that failed has none: its rows wait for the first that have some.
class TableReporter : public benchmark::CSVReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    if (has_head_) return CSVReporter::ReportRuns(runs);
    held_.insert(held_.end(), runs.begin(), runs.end());
    has_head_ =
        std::any_of(runs.begin(), runs.end(), [](const Run& run) { return !run.counters.empty(); });
    if (has_head_) write_held();
  }

  void Finalize() override { write_held(); }

 private:
  void write_held() {
    if (!held_.empty()) CSVReporter::ReportRuns(held_);
    held_.clear();
  }

  bool has_head_ = false;
  std::vector<Run> held_;
};
#pragma GCC diagnostic pop

// Looks at its file at the end.
template <class Reporter>
class Checked final : public Reporter {
 public:
  template <class... Options>
  explicit Checked(bool& arrived, Options... options) : Reporter(options...), arrived_(arrived) {}
  void Finalize() override {
    Reporter::Finalize();
    arrived_ = this->GetOutputStream().flush().good();
  }

 private:
  bool& arrived_;
};

}  // namespace

Reporters::Reporters(const Output& output) {
  if (output.format == "csv") display_ = std::make_unique<TableReporter>();
  if (output.file.empty()) return;
  if (output.file_format == "csv") {
    file_ = std::make_unique<Checked<TableReporter>>(file_arrived_);
  } else if (output.file_format == "json") {
    file_ = std::make_unique<Checked<benchmark::JSONReporter>>(file_arrived_);
  } else {
    file_ = std::make_unique<Checked<benchmark::ConsoleReporter>>(
        file_arrived_, benchmark::ConsoleReporter::OO_None);
  }
}

}  // namespace stepscope::suites
