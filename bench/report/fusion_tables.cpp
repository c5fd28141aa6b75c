// What passes removed, and what each is worth.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/report/numbers.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

// The first note: the record has all of them.
std::string note_of(const PassRecord& pass) {
  if (pass.notes.empty()) return {};
  if (pass.notes.size() == 1) return pass.notes.front();
  return fmt::format("{} (and {} more)", pass.notes.front(), pass.notes.size() - 1);
}

// Bytes that are gone; a minus where a pass added some.
Cell removed_bytes(double bytes) {
  return {bytes < 0.0 ? fmt::format("-{}", bytes_text(-bytes)) : bytes_text(bytes), bytes};
}

template <class T>
std::int64_t difference(T larger, T smaller) {
  return static_cast<std::int64_t>(larger) - static_cast<std::int64_t>(smaller);
}

// Below a table: notes are sentences, too wide for a column.
void add_note(RunTable& table, std::size_t run, const ArmRecord& arm, const PassRecord& pass) {
  if (!pass.notes.empty()) {
    table.note(run, fmt::format("{}: {}: {}", arm.backend, pass.name, note_of(pass)));
  }
}

void add_passes(RunTable& table, std::size_t run, const ArmRecord& arm) {
  for (const PassRecord& pass : arm.passes) {
    if (!pass.changed && pass.notes.empty()) continue;
    add_note(table, run, arm, pass);
    table.add(run, {arm.backend, batch_cell(arm.batch), arm.fusion, pass.name,
                    pass.ops_before > 0 ? count_cell(pass.ops_before) : Cell("-"),
                    count_cell(difference(pass.ops_before, pass.ops_after)),
                    removed_bytes(static_cast<double>(pass.intermediate_bytes_removed)),
                    pass.time_ns > 0 ? time_cell(static_cast<double>(pass.time_ns)) : Cell("-")});
  }
}

// Of the arm without a pass over the one with all: ratio, interval, verdict.
std::vector<Cell> without_over_all(const Record& record, const ArmRecord& all,
                                   const ArmRecord& left_out) {
  const PairView view = find_pair(record, all, left_out);
  if (view.pair == nullptr) return {kNotMeasured, "", ""};
  for (const RatioRecord& ratio : view.pair->ratios) {
    if (!ratio.time_ratio) continue;
    if (!is_quotable(record, ratio)) return {"-", "-", "void"};
    const Interval& time = *ratio.time_ratio;
    return {ratio_cell(time.estimate),
            time.low && time.high ? Cell(range_text(time), *time.low, *time.high) : Cell(),
            view.pair->ratios.size() > 1
                ? fmt::format("{} (cores {})", ratio.verdict, ratio.stratum)
                : ratio.verdict};
  }
  return {kNotMeasured, "", ""};
}

// A row: what the arm with all passes has less than `other`, and what that is worth.
std::vector<Cell> ablation_row(const Record& record, const ArmRecord& all, const ArmRecord& other,
                               std::string pass) {
  std::vector<Cell> row{all.backend,
                        batch_cell(all.batch),
                        all.mode_requested,
                        std::move(pass),
                        count_cell(difference(other.counts.ops, all.counts.ops)),
                        count_cell(difference(other.counts.calls, all.counts.calls)),
                        removed_bytes(static_cast<double>(difference(
                            other.counts.intermediate_bytes, all.counts.intermediate_bytes)))};
  for (Cell& cell : without_over_all(record, all, other)) row.push_back(std::move(cell));
  return row;
}

void add_ablation(RunTable& table, std::size_t run, const Record& record, const Group& group,
                  const std::string& mode) {
  const ArmRecord& all = *find_arm(group, mode, kAllPasses);
  for (const PassRecord& pass : all.passes) {
    const ArmRecord* const left_out = find_arm(group, mode, without(pass.name));
    if (left_out == nullptr && !pass.fusion) continue;
    add_note(table, run, all, pass);
    if (left_out != nullptr) {
      table.add(run, ablation_row(record, all, *left_out, pass.name));
    } else {
      table.add(run, {all.backend, batch_cell(all.batch), mode, pass.name, "", "", "", "", "",
                      "no effect here"});
    }
  }
  if (const ArmRecord* none = find_arm(group, mode, kUnfused)) {
    table.add(run, ablation_row(record, all, *none, "all of them"));
  }
}

}  // namespace

Table passes_table(const Runs& runs) {
  RunTable table(
      runs, "passes", "what passes removed, at the largest batch of each backend",
      {"backend", "batch", "fusion", "pass", "ops_before", "ops_removed", "bytes_removed", "took"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const Group& group : largest_groups_of(runs[run])) {
      if (!ablated_modes(group).empty()) continue;  // that table says it
      std::set<std::string> said;
      for (const ArmRecord* arm : group) {
        if (arm->passes.empty() || arm->fusion == kUnfused) continue;
        if (said.insert(arm->fusion).second) add_passes(table, run, *arm);
      }
    }
  }
  return table.take();
}

Table ablation_table(const Runs& runs) {
  RunTable table(runs, "ablation", "what each pass is worth, one left out at a time",
                 {"backend", "batch", "mode", "pass", "ops_removed", "calls_removed",
                  "bytes_removed", "without_over_all", "interval", "verdict"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const auto& [key, group] : groups_of(runs[run])) {
      for (const std::string& mode : ablated_modes(group)) {
        add_ablation(table, run, runs[run], group, mode);
      }
    }
  }
  return table.take();
}

}  // namespace stepscope
