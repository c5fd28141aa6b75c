// What passes removed, and what each is worth.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/report/arms.h"
#include "bench/report/table.h"
#include "bench/report/tables.h"
#include "bench/report/text.h"

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

std::string passes_of(const ArmRecord& arm) {
  Table table({{"pass", kLeft}, {"ops removed"}, {"intermediates removed"}, {"took"}, {"", kLeft}});
  for (const PassRecord& pass : arm.passes) {
    if (!pass.changed && pass.notes.empty()) continue;
    table.add({pass.name, fmt::to_string(pass.ops_before - pass.ops_after),
               removed_bytes(static_cast<double>(pass.intermediate_bytes_removed)),
               pass.time_ns > 0 ? time_text(static_cast<double>(pass.time_ns)) : "-",
               note_of(pass)});
  }
  return fmt::format("passes of {}, batch {}, fusion {}:\n{}", arm.backend, arm.batch, arm.fusion,
                     table.text());
}

std::string ratio_text(const RatioRecord& ratio) {
  return fmt::format("{:.3f} ({:.3f} .. {:.3f})", ratio.medians, ratio.q1, ratio.q3);
}

// A row for a pass: the arm without it against the arm with all.
std::vector<std::string> ablation_row(const Group& group, const ArmRecord& all,
                                      const PassRecord& pass) {
  const ArmRecord* left_out = find_arm(group, all.mode_requested, without(pass.name));
  if (left_out == nullptr) {
    return {pass.name, "", "", "", "no effect here", note_of(pass)};
  }
  const RatioRecord* ratio = find_ratio(*left_out, all.mode_requested, kAllPasses);
  return {pass.name,
          fmt::to_string(difference(left_out->counts.ops, all.counts.ops)),
          fmt::to_string(difference(left_out->counts.calls, all.counts.calls)),
          removed_bytes(static_cast<double>(
              difference(left_out->counts.intermediate_bytes, all.counts.intermediate_bytes))),
          ratio == nullptr ? "not measured" : ratio_text(*ratio),
          note_of(pass)};
}

std::string ablation_of(const Group& group, const std::string& mode) {
  const ArmRecord& all = *find_arm(group, mode, kAllPasses);
  Table table({{"pass", kLeft},
               {"ops removed"},
               {"launches removed"},
               {"intermediates removed"},
               {"without it / with all", kLeft},
               {"", kLeft}});
  for (const PassRecord& pass : all.passes) {
    const bool chosen = find_arm(group, mode, without(pass.name)) != nullptr;
    if (chosen || pass.fusion) table.add(ablation_row(group, all, pass));
  }
  if (const ArmRecord* none = find_arm(group, mode, kUnfused)) {
    const RatioRecord* ratio = find_ratio(*none, mode, kAllPasses);
    table.add({"all of them", fmt::to_string(difference(none->counts.ops, all.counts.ops)),
               fmt::to_string(difference(none->counts.calls, all.counts.calls)),
               removed_bytes(static_cast<double>(
                   difference(none->counts.intermediate_bytes, all.counts.intermediate_bytes))),
               ratio == nullptr ? "not measured" : ratio_text(*ratio), ""});
  }
  return fmt::format("passes of {}, batch {}, mode {}, one left out at a time:\n{}", all.backend,
                     all.batch, mode, table.text());
}

void add_block(std::string& text, const std::string& block) {
  text += (text.empty() ? "" : "\n") + block;
}

}  // namespace

std::string passes_table(const Record& record) {
  const auto groups = groups_of(record);
  std::string text;
  for (auto each = groups.begin(); each != groups.end(); ++each) {
    const auto next = std::next(each);
    if (next != groups.end() && next->first.first == each->first.first) continue;
    if (!ablated_modes(each->second).empty()) continue;  // that table says it
    std::set<std::string> said;
    for (const ArmRecord* arm : each->second) {
      if (arm->fusion == kUnfused || !said.insert(arm->fusion).second) continue;
      add_block(text, passes_of(*arm));
    }
  }
  return text;
}

std::string ablation_table(const Record& record) {
  std::string text;
  for (const auto& [key, group] : groups_of(record)) {
    for (const std::string& mode : ablated_modes(group)) {
      add_block(text, ablation_of(group, mode));
    }
  }
  return text;
}

}  // namespace stepscope
