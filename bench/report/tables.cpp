// The two tables of every comparison: times, and what the steps are made of.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/tables.h"

#include <fmt/format.h>

#include "bench/report/arms.h"
#include "bench/report/table.h"
#include "bench/report/text.h"

namespace stepscope {
namespace {

constexpr auto kLeft = Table::Align::left;
constexpr const char* kNothing = "-";

std::vector<std::string> names_of(const ArmRecord& arm) {
  return {arm.backend, fmt::to_string(arm.batch),
          is_measured(arm) ? arm.mode_executed : arm.mode_requested, arm.fusion};
}

std::string ratio_cell(const ArmRecord& arm, std::string_view mode, std::string_view fusion) {
  const RatioRecord* ratio = find_ratio(arm, mode, fusion);
  return ratio == nullptr ? kNothing : fmt::format("{:.3f}", ratio->medians);
}

void append(std::vector<std::string>& row, std::vector<std::string> cells) {
  for (std::string& cell : cells) row.push_back(std::move(cell));
}

std::string library_flops(const ArmRecord& arm) {
  if (arm.flops <= 0.0) return kNothing;
  return fmt::format("{:.1f} %", 100.0 * arm.library_flops / arm.flops);
}

}  // namespace

std::string times_table(const Record& record) {
  Table table({{"backend", kLeft},
               {"batch"},
               {"mode", kLeft},
               {"fusion", kLeft},
               {"step, median"},
               {"quartiles"},
               {"vs eager"},
               {"vs planned"},
               {"vs unfused"}});
  for (const auto& [key, group] : groups_of(record)) {
    for (const ArmRecord* arm : group) {
      std::vector<std::string> row = names_of(*arm);
      const TimeSummary& wall = arm->wall;
      if (!is_measured(*arm)) {
        append(row, {"not measured", "", "", "", ""});
      } else {
        append(row, {time_text(wall.median_ns),
                     fmt::format("{} .. {}", time_text(wall.q1_ns), time_text(wall.q3_ns)),
                     ratio_cell(*arm, "eager", kUnfused), ratio_cell(*arm, "planned", arm->fusion),
                     arm->fusion == kUnfused ? kNothing
                                             : ratio_cell(*arm, arm->mode_requested, kUnfused)});
      }
      table.add(std::move(row));
    }
  }
  return table.text();
}

std::string counts_table(const Record& record) {
  Table table({{"backend", kLeft},
               {"batch"},
               {"mode", kLeft},
               {"fusion", kLeft},
               {"ops"},
               {"reorders"},
               {"submissions"},
               {"calls"},
               {"by library"},
               {"its flops"},
               {"memory"},
               {"dispatch alone"},
               {"per op"}});
  for (const auto& [key, group] : groups_of(record)) {
    for (const ArmRecord* arm : group) {
      if (!is_measured(*arm)) continue;
      const StepCounts& counts = arm->counts;
      const auto& dispatch = arm->dispatch_empty_kernels;
      std::vector<std::string> row = names_of(*arm);
      append(row, {fmt::to_string(counts.ops), fmt::to_string(counts.reorders),
                   fmt::to_string(counts.submissions), fmt::to_string(counts.calls),
                   fmt::to_string(counts.library_calls), library_flops(*arm),
                   bytes_text(static_cast<double>(arm->reserved_bytes)),
                   dispatch ? time_text(dispatch->median_ns) : "not measured",
                   dispatch ? time_text(dispatch->median_ns / static_cast<double>(counts.ops))
                            : "not measured"});
      table.add(std::move(row));
    }
  }
  return table.text();
}

}  // namespace stepscope
