// Exact counts: what a step is made of, and who submitted how much.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bench/report/arms.h"
#include "bench/report/numbers.h"
#include "bench/report/table.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

constexpr auto kLeft = Table::Align::left;

std::string library_flops(const ArmRecord& arm) {
  if (arm.flops <= 0.0) return "-";
  return fmt::format("{:.1f} %", 100.0 * arm.library_flops / arm.flops);
}

bool same_phases(const ArmRecord& a, const ArmRecord& b) {
  const auto& left = a.counts.by_phase;
  const auto& right = b.counts.by_phase;
  if (a.fusion != b.fusion || left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].phases != right[i].phases || left[i].ops != right[i].ops ||
        left[i].calls != right[i].calls || left[i].library_calls != right[i].library_calls) {
      return false;
    }
  }
  return true;
}

std::string phases_of(const ArmRecord& arm, const std::string& modes) {
  Table table({{"phase", kLeft}, {"ops"}, {"calls"}, {"by library"}, {"own"}});
  for (const PhaseCalls& phase : arm.counts.by_phase) {
    table.add({phase.phases, fmt::to_string(phase.ops), fmt::to_string(phase.calls),
               fmt::to_string(phase.library_calls), fmt::to_string(phase.own_calls)});
  }
  return fmt::format("calls of a step by phase, {}, batch {}, {}, fusion {}:\n{}", arm.backend,
                     arm.batch, modes, arm.fusion, table.text());
}

}  // namespace

std::string counts_table(const Record& record) {
  Table table({{"backend", kLeft},
               {"batch"},
               {"arm", kLeft},
               {"ops"},
               {"reorders"},
               {"submissions"},
               {"replays"},
               {"nodes"},
               {"calls"},
               {"by library"},
               {"its flops"},
               {"look-ups"}});
  bool any = false;
  for (const auto& [key, group] : groups_of(record)) {
    for (const ArmRecord* arm : group) {
      const StepCounts& counts = arm->counts;
      if (counts.ops == 0) continue;
      any = true;
      table.add({arm->backend, fmt::to_string(arm->batch),
                 fmt::format("{}/{}", arm->mode_executed, arm->fusion), fmt::to_string(counts.ops),
                 fmt::to_string(counts.reorders), fmt::to_string(counts.submissions),
                 fmt::to_string(counts.graph_launches), fmt::to_string(counts.nodes_executed),
                 fmt::to_string(counts.calls), fmt::to_string(counts.library_calls),
                 library_flops(*arm), fmt::to_string(counts.lookups)});
    }
  }
  constexpr const char* kTitle =
      "a step in counts: ops of the program, submissions of the host, calls that computed";
  return any ? fmt::format("{}:\n{}", kTitle, table.text()) : "";
}

std::string phases_table(const Record& record) {
  std::string text;
  for (const Group& group : largest_groups_of(record)) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      const ArmRecord& arm = *group[i];
      if (arm.counts.by_phase.empty()) continue;
      bool said = false;
      for (std::size_t before = 0; before < i; ++before) said |= same_phases(*group[before], arm);
      if (said) continue;
      std::string modes = arm.mode_executed;
      for (std::size_t after = i + 1; after < group.size(); ++after) {
        if (same_phases(arm, *group[after]))
          modes += fmt::format(", {}", group[after]->mode_executed);
      }
      text += fmt::format("{}{}", text.empty() ? "" : "\n", phases_of(arm, modes));
    }
  }
  return text;
}

std::string submissions_table(const std::vector<SubmissionRecord>& submissions) {
  if (submissions.empty()) return {};
  Table table({{"activity", kLeft},
               {"steps"},
               {"submissions"},
               {"replays"},
               {"least per step"},
               {"median"},
               {"most"}});
  for (const SubmissionRecord& row : submissions) {
    table.add({row.activity, fmt::to_string(row.steps), fmt::to_string(row.submissions),
               fmt::to_string(row.graph_launches), fmt::to_string(row.least),
               fmt::format("{:g}", row.median), fmt::to_string(row.most)});
  }
  return fmt::format("submissions by activity:\n{}", table.text());
}

}  // namespace stepscope
