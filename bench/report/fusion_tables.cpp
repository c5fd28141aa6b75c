// What passes removed, and what each is worth.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/report/arms.h"
#include "bench/report/numbers.h"
#include "bench/report/table.h"
#include "bench/report/tables.h"
#include "bench/report/wrap.h"

namespace stepscope {
namespace {

constexpr auto kLeft = Table::Align::left;

// The first note: the record has all of them.
std::string note_of(const PassRecord& pass) {
  if (pass.notes.empty()) return {};
  if (pass.notes.size() == 1) return pass.notes.front();
  return fmt::format("{} (and {} more)", pass.notes.front(), pass.notes.size() - 1);
}

// Bytes that are gone; a minus where a pass added some.
std::string removed_bytes(double bytes) {
  return bytes < 0.0 ? fmt::format("-{}", bytes_text(-bytes)) : bytes_text(bytes);
}

template <class T>
std::int64_t difference(T larger, T smaller) {
  return static_cast<std::int64_t>(larger) - static_cast<std::int64_t>(smaller);
}

// Below a table: notes are sentences, too wide for a column.
std::string notes_of(const std::vector<const PassRecord*>& passes) {
  std::string text;
  for (const PassRecord* pass : passes) {
    if (!pass->notes.empty()) text += fmt::format("  {}: {}\n", pass->name, note_of(*pass));
  }
  return wrapped(text);
}

std::string passes_of(const ArmRecord& arm) {
  Table table({{"pass", kLeft}, {"ops removed"}, {"intermediates removed"}, {"took"}});
  std::vector<const PassRecord*> shown;
  for (const PassRecord& pass : arm.passes) {
    if (!pass.changed && pass.notes.empty()) continue;
    shown.push_back(&pass);
    table.add({pass.name, fmt::to_string(pass.ops_before - pass.ops_after),
               removed_bytes(static_cast<double>(pass.intermediate_bytes_removed)),
               pass.time_ns > 0 ? time_text(static_cast<double>(pass.time_ns)) : "-"});
  }
  return fmt::format("passes of {}, batch {}, fusion {}:\n{}{}", arm.backend, arm.batch, arm.fusion,
                     table.text(), notes_of(shown));
}

// Of the arm without a pass over the one with all: the estimate, with its interval or, in one
// process, the quartiles of the blocks.
std::string without_over_all(const Record& record, const ArmRecord& all,
                             const ArmRecord& left_out) {
  const PairView view = find_pair(record, all, left_out);
  if (view.pair == nullptr) return kNotMeasured;
  if (is_void(record)) return "- void";
  std::vector<std::string> cells;
  for (const RatioRecord& ratio : view.pair->ratios) {
    if (!ratio.time_ratio) continue;
    const std::string estimate = ratio_text(ratio.time_ratio->estimate);
    const std::string range = range_text(*ratio.time_ratio);
    cells.push_back(range.empty() ? estimate : fmt::format("{} ({})", estimate, range));
    cells.back() += " " + ratio.verdict;
  }
  return cells.empty() ? kNotMeasured : fmt::format("{}", fmt::join(cells, "; "));
}

// What `all` has less than `other`.
std::vector<std::string> removed_cells(const ArmRecord& other, const ArmRecord& all) {
  return {fmt::to_string(difference(other.counts.ops, all.counts.ops)),
          fmt::to_string(difference(other.counts.calls, all.counts.calls)),
          removed_bytes(static_cast<double>(
              difference(other.counts.intermediate_bytes, all.counts.intermediate_bytes)))};
}

// A row for a pass: the arm without it against the arm with all.
std::vector<std::string> ablation_row(const Record& record, const Group& group,
                                      const ArmRecord& all, const PassRecord& pass) {
  const ArmRecord* left_out = find_arm(group, all.mode_requested, without(pass.name));
  if (left_out == nullptr) return {pass.name, "", "", "", "no effect here"};
  std::vector<std::string> row{pass.name};
  for (std::string& cell : removed_cells(*left_out, all)) row.push_back(std::move(cell));
  row.push_back(without_over_all(record, all, *left_out));
  return row;
}

std::string ablation_of(const Record& record, const Group& group, const std::string& mode) {
  const ArmRecord& all = *find_arm(group, mode, kAllPasses);
  Table table({{"pass", kLeft},
               {"ops removed"},
               {"calls removed"},
               {"intermediates removed"},
               {"without it / with all", kLeft}});
  std::vector<const PassRecord*> shown;
  for (const PassRecord& pass : all.passes) {
    const bool chosen = find_arm(group, mode, without(pass.name)) != nullptr;
    if (!chosen && !pass.fusion) continue;
    shown.push_back(&pass);
    table.add(ablation_row(record, group, all, pass));
  }
  if (const ArmRecord* none = find_arm(group, mode, kUnfused)) {
    std::vector<std::string> row{"all of them"};
    for (std::string& cell : removed_cells(*none, all)) row.push_back(std::move(cell));
    row.push_back(without_over_all(record, all, *none));
    table.add(std::move(row));
  }
  return fmt::format("passes of {}, batch {}, mode {}, one left out at a time:\n{}{}", all.backend,
                     all.batch, mode, table.text(), notes_of(shown));
}

void add_block(std::string& text, const std::string& block) {
  text += (text.empty() ? "" : "\n") + block;
}

}  // namespace

std::string passes_table(const Record& record) {
  std::string text;
  for (const Group& group : largest_groups_of(record)) {
    if (!ablated_modes(group).empty()) continue;  // that table says it
    std::set<std::string> said;
    for (const ArmRecord* arm : group) {
      if (arm->passes.empty() || arm->fusion == kUnfused) continue;
      if (!said.insert(arm->fusion).second) continue;
      add_block(text, passes_of(*arm));
    }
  }
  return text;
}

std::string ablation_table(const Record& record) {
  std::string text;
  for (const auto& [key, group] : groups_of(record)) {
    for (const std::string& mode : ablated_modes(group)) {
      add_block(text, ablation_of(record, group, mode));
    }
  }
  return text;
}

}  // namespace stepscope
