// A record from top to bottom.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/text.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "bench/report/arms.h"
#include "bench/report/numbers.h"
#include "bench/report/renderers.h"
#include "bench/report/statements.h"
#include "bench/report/tables.h"
#include "bench/report/wrap.h"

namespace stepscope {
namespace {

std::string lines_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("{}\n", line);
  return text;
}

std::string status_text(const Record& record) {
  if (record.status == "complete") return {};
  // The sentences say why; a reason may name many controls.
  if (is_void(record)) return fmt::format("status: {}: why stands at the end\n", record.status);
  return fmt::format("status: {}\n", status_line(record));
}

// The first line says how many, the others why and what.
std::string gate_text(const Record& record) {
  std::string text;
  for (const std::string& line : gate_lines(record)) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "  ", line);
  }
  return text;
}

// More lines of one kind than this are told by their number: a terminal shows the end of a text.
constexpr std::size_t kMostLines = 12;
constexpr const char* kAllOfThem = "each in the record, and in report.html and report.md of --out";

std::string flags_text(const Record& record) {
  std::vector<std::string> lines;
  std::map<std::string, std::size_t> counts;  // by name
  const auto add = [&](const std::string& of, const std::string& flag) {
    ++counts[flag.substr(0, flag.find(':'))];
    lines.push_back(fmt::format("flag: {}: {}", of, flag));
  };
  for (const ArmRecord& arm : record.arms) {
    for (const std::string& flag : arm.flags) add(arm.name, flag);
  }
  for (const PairRecord& pair : record.pairs) {
    for (const RatioRecord& ratio : pair.ratios) {
      for (const std::string& flag : ratio.flags) {
        add(fmt::format("{} over {}", pair.of, pair.base), flag);
      }
    }
  }
  if (lines.size() <= kMostLines) return lines_text(lines);
  std::vector<std::string> kinds;
  for (const auto& [name, count] : counts) kinds.push_back(fmt::format("{} {}", name, count));
  return fmt::format("flags: {}; {}\n", fmt::join(kinds, ", "), kAllOfThem);
}

// Whether the interval lies outside the band of SAME, and only the number of verdicts speaks
// against a difference.
bool is_by_correction(const RatioRecord& ratio) {
  const Interval& time = *ratio.time_ratio;
  if (!ratio.delta || !time.low || !time.high) return false;
  return *time.high < 1.0 / (1.0 + *ratio.delta) || *time.low > 1.0 + *ratio.delta;
}

std::string undecided_text(const std::vector<std::string>& lines, std::size_t by_correction) {
  if (lines.size() <= kMostLines) return lines_text(lines);
  return fmt::format(
      "UNDECIDED: {} pairs: of {} the interval reaches into the band of SAME or spans it, of {} it "
      "lies outside and Holm's correction does not uphold it; {}\n",
      lines.size(), lines.size() - by_correction, by_correction, kAllOfThem);
}

// Why pairs have no verdict. What voids a run says nothing of one pair: it is not said here.
std::string reasons_text(const Record& record) {
  if (is_void(record)) return {};
  std::vector<std::string> undecided;
  std::size_t by_correction = 0;
  std::set<std::string> voids;
  for (const PairView& view : pairs_of(record)) {
    if (view.pair->kind != "arm") continue;
    for (const RatioRecord& ratio : view.pair->ratios) {
      if (ratio.verdict_reason.empty() || !ratio.time_ratio) continue;
      if (ratio.verdict == "void") voids.insert(ratio.verdict_reason);
      if (ratio.verdict != "UNDECIDED") continue;
      by_correction += is_by_correction(ratio) ? 1 : 0;
      undecided.push_back(fmt::format("UNDECIDED: {} over {} at batch {}: {}",
                                      label_of(record, *view.of), label_of(record, *view.base),
                                      view.of->batch, ratio.verdict_reason));
    }
  }
  std::string text = undecided_text(undecided, by_correction);
  for (const std::string& reason : voids) text += fmt::format("void: {}\n", reason);
  return text;
}

// Blocks of text, a blank line between them.
class Page {
 public:
  void add(const std::string& block) {
    if (!block.empty()) text_ += fmt::format("{}{}", text_.empty() ? "" : "\n", block);
  }
  void add(const Table& table) { add(terminal_text(table)); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_verdicts(Page& page, const Record& record) {
  const std::string within = terminal_text(verdict_table(record));
  const std::string between = terminal_text(between_table(record));
  const std::string voids = voids_line(record);
  page.add(
      fmt::format("{}{}{}{}", within, within.empty() || between.empty() ? "" : "\n", between,
                  wrapped(reasons_text(record) + (voids.empty() ? "" : fmt::format("{}\n", voids)) +
                          flags_text(record))));
  page.add(control_table(record));
  page.add(baseline_table(record));
}

void add_costs(Page& page, const Record& record) {
  for (const auto& table : {counts_table(record), phases_table(record), passes_table(record),
                            ablation_table(record), one_off_table(record), break_even_table(record),
                            memory_table(record), owners_table(record)}) {
    page.add(table);
  }
  page.add(terminal_text(utilization_table(record)) +
           wrapped(lines_text(unused_quantities(record))));
  page.add(calibration_table(record));
}

}  // namespace

std::string schedule_text(const ScheduleRecord& schedule) {
  return wrapped(
      fmt::format("{}\n{}\n{}", schedule_line(schedule), claim_line(schedule),
                  is_over_budget(schedule)
                      ? "MORE THAN THE BUDGET: take fewer arms or batches, or a longer --budget\n"
                      : ""));
}

std::string compare_text(const Record& record) {
  std::string head = fmt::format("{}\n", work_line(record));
  head += status_text(record);
  // Of several processes it was told before the first timing.
  if (record.schedule && record.schedule->processes <= 1) head += schedule_text(*record.schedule);
  Page page;
  page.add(wrapped(head + gate_text(record)));
  add_verdicts(page, record);
  for (const auto& table : {latency_table(record), throughput_table(record), dispatch_table(record),
                            device_table(record), submission_table(record)}) {
    page.add(table);
  }
  const std::string untraced = untraced_line(record);
  page.add(untraced.empty() ? "" : fmt::format("{}\n", untraced));
  add_costs(page, record);
  std::string notes;
  for (const std::string& note : record.notes) notes += fmt::format("note: {}\n", note);
  page.add(wrapped(notes));
  page.add(wrapped(lines_text(summary_of(record))));
  return page.take();
}

std::string epoch_header() {
  return fmt::format("{:>5}  {:>9}  {:>9}  {:>8}  {:>9}  {:>9}  {:>9}  {:>9}  {:>10}\n", "epoch",
                     "loss", "val loss", "val acc", "time", "data", "transfer", "step",
                     "validation");
}

std::string epoch_row(const EpochRecord& epoch) {
  const auto time = [](std::int64_t ns) { return time_text(static_cast<double>(ns)); };
  const std::string accuracy =
      epoch.validation_accuracy ? fmt::format("{:.2f}%", 100.0 * *epoch.validation_accuracy) : "-";
  // The sign of a NaN says nothing.
  const auto loss = [](double value) {
    return std::isnan(value) ? std::string("nan") : fmt::format("{:.5f}", value);
  };
  return fmt::format("{:>5}  {:>9}  {:>9}  {:>8}  {:>9}  {:>9}  {:>9}  {:>9}  {:>10}\n",
                     epoch.epoch, loss(epoch.training_loss), loss(epoch.validation_loss), accuracy,
                     time(epoch.wall_ns), time(epoch.data_ns), time(epoch.transfer_ns),
                     time(epoch.step_ns), time(epoch.validation_ns));
}

}  // namespace stepscope
