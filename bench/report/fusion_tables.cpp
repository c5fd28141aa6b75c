// What passes removed, and what each is worth.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/record/simulated.h"
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
    table.add(run, {labelled_backend(arm), batch_cell(arm.batch), arm.fusion, pass.name,
                    pass.ops_before > 0 ? count_cell(pass.ops_before) : Cell("-"),
                    count_cell(difference(pass.ops_before, pass.ops_after)),
                    removed_bytes(static_cast<double>(pass.intermediate_bytes_removed)),
                    pass.time_ns > 0 ? time_cell(static_cast<double>(pass.time_ns)) : Cell("-")});
  }
}

// Of the arm without a pass over the one with all, for each stratum: cores, ratio, interval,
// verdict.
std::vector<std::vector<Cell>> without_over_all(const Record& record, const ArmRecord& all,
                                                const ArmRecord& left_out) {
  std::vector<std::vector<Cell>> rows;
  const PairView view = find_pair(record, all, left_out);
  if (view.pair == nullptr) return {{"", kNotMeasured, "", ""}};
  if (all.simulated) return {{"", "-", "", fmt::format("no ratio: {}", kSimulated)}};
  for (const RatioRecord& ratio : view.pair->ratios) {
    if (!ratio.time_ratio) continue;
    if (!is_quotable(record, ratio)) {
      rows.push_back({cores_of(ratio), "-", "-", "void"});
      continue;
    }
    const Interval& time = *ratio.time_ratio;
    rows.push_back({cores_of(ratio), ratio_cell(time.estimate),
                    time.low && time.high ? Cell(range_text(time), *time.low, *time.high) : Cell(),
                    ratio.verdict});
  }
  if (rows.empty()) rows.push_back({"", kNotMeasured, "", ""});
  return rows;
}

// Cores stand in front of the ratio, where any pair of the runs has strata.
void add_row(RunTable& table, std::size_t run, std::vector<Cell> row, std::vector<Cell> ratio,
             bool strata) {
  if (!strata) ratio.erase(ratio.begin());
  for (Cell& cell : ratio) row.push_back(std::move(cell));
  table.add(run, std::move(row));
}

// What the arm with all passes has less than `other`.
std::vector<Cell> removed_cells(const ArmRecord& all, const ArmRecord& other,
                                const std::string& pass) {
  return {labelled_backend(all),
          batch_cell(all.batch),
          all.mode_requested,
          pass,
          count_cell(difference(other.counts.ops, all.counts.ops)),
          count_cell(difference(other.counts.calls, all.counts.calls)),
          removed_bytes(static_cast<double>(
              difference(other.counts.intermediate_bytes, all.counts.intermediate_bytes)))};
}

struct Ablation {
  const Runs& runs;
  std::size_t run;
  bool strata;  // whether the table has a column for them
};

// What the arm with all passes has less than `other`, and what that is worth.
void add_ablated(RunTable& table, const Ablation& of, const ArmRecord& all, const ArmRecord& other,
                 const std::string& pass) {
  for (std::vector<Cell>& ratio : without_over_all(of.runs[of.run], all, other)) {
    add_row(table, of.run, removed_cells(all, other, pass), std::move(ratio), of.strata);
  }
}

void add_ablation(RunTable& table, const Ablation& of, const Group& group,
                  const std::string& mode) {
  const ArmRecord& all = *find_arm(group, mode, kAllPasses);
  for (const PassRecord& pass : all.passes) {
    const ArmRecord* const left_out = find_arm(group, mode, without(pass.name));
    if (left_out == nullptr && !pass.fusion) continue;
    add_note(table, of.run, all, pass);
    if (left_out != nullptr) {
      add_ablated(table, of, all, *left_out, pass.name);
    } else {
      add_row(table, of.run,
              {labelled_backend(all), batch_cell(all.batch), mode, pass.name, "", "", ""},
              {"", "", "", pass.changed ? kNotMeasured : "no effect here"}, of.strata);
    }
  }
  if (const ArmRecord* none = find_arm(group, mode, kUnfused)) {
    add_ablated(table, of, all, *none, "all of them");
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
  const bool strata = has_strata(runs);
  std::vector<std::string_view> keys{"backend",     "batch",         "mode",         "pass",
                                     "ops_removed", "calls_removed", "bytes_removed"};
  if (strata) keys.emplace_back("cores");
  for (const char* key : {"without_over_all", "interval", "verdict"}) keys.emplace_back(key);
  RunTable table(runs, "ablation", "what each pass is worth, one left out at a time", keys);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const auto& [key, group] : groups_of(runs[run])) {
      for (const std::string& mode : ablated_modes(group)) {
        add_ablation(table, {runs, run, strata}, group, mode);
      }
    }
  }
  return table.take();
}

}  // namespace stepscope
