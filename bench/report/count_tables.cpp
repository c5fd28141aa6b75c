// Exact counts: what a step is made of, and who submitted how much.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bench/record/simulated.h"
#include "bench/report/columns.h"
#include "bench/report/numbers.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

Cell number_cell(std::uint64_t count) { return count_cell(static_cast<std::int64_t>(count)); }

Cell library_flops(const ArmRecord& arm) {
  if (arm.flops <= 0.0) return "-";
  return percent_cell(arm.library_flops / arm.flops);
}

std::vector<Cell> counts_cells(const ArmRecord& arm) {
  const StepCounts& counts = arm.counts;
  return {labelled_backend(arm),
          batch_cell(arm.batch),
          fmt::format("{}/{}", arm.mode_executed, arm.fusion),
          number_cell(counts.ops),
          number_cell(counts.reorders),
          number_cell(counts.submissions),
          number_cell(counts.graph_launches),
          number_cell(counts.nodes_executed),
          number_cell(counts.calls),
          number_cell(counts.library_calls),
          library_flops(arm),
          number_cell(counts.lookups)};
}

bool same_phases(const ArmRecord& a, const ArmRecord& b) {
  return a.fusion == b.fusion && a.counts.by_phase == b.counts.by_phase;
}

// Of arms whose steps make the same calls one is told, with the modes of all.
void add_phases(RunTable& table, std::size_t run, const Group& group) {
  for (std::size_t i = 0; i < group.size(); ++i) {
    const ArmRecord& arm = *group[i];
    bool said = false;
    for (std::size_t before = 0; before < i; ++before) said |= same_phases(*group[before], arm);
    if (said) continue;
    std::string modes = arm.mode_executed;
    for (std::size_t after = i + 1; after < group.size(); ++after) {
      if (same_phases(arm, *group[after]))
        modes += fmt::format(", {}", group[after]->mode_executed);
    }
    for (const PhaseCalls& phase : arm.counts.by_phase) {
      table.add(run, {labelled_backend(arm), batch_cell(arm.batch), arm.fusion, modes, phase.phases,
                      number_cell(phase.ops), number_cell(phase.calls),
                      number_cell(phase.library_calls), number_cell(phase.own_calls)});
    }
  }
}

Cell flops_cell(double flops) {
  if (flops <= 0.0) return "-";
  if (flops < 1e6) return {fmt::format("{} kflop", digits_text(flops / 1e3)), flops};
  return {fmt::format("{} Mflop", digits_text(flops / 1e6)), flops};
}

std::vector<Cell> submission_cells(const SubmissionRecord& row) {
  return {row.activity,
          count_cell(row.steps),
          count_cell(row.submissions),
          count_cell(row.graph_launches),
          count_cell(row.least),
          Cell(fmt::format("{:g}", row.median), row.median),
          count_cell(row.most)};
}

constexpr const char* kSubmissions = "submissions by activity";
std::vector<std::string_view> submission_keys() {
  return {"activity",       "steps",           "submissions",  "replays",
          "least_per_step", "median_per_step", "most_per_step"};
}

}  // namespace

Table counts_table(const Runs& runs) {
  RunTable table(
      runs, "step-counts",
      "a step in counts: ops of the program, submissions of the host, calls that computed",
      {"backend", "batch", "arm", "ops", "reorders", "submissions", "replays", "nodes", "calls",
       "by_library", "its_flops", "look_ups"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const auto& [key, group] : groups_of(runs[run])) {
      for (const ArmRecord* arm : group) {
        if (arm->counts.ops > 0) table.add(run, counts_cells(*arm));
      }
    }
  }
  return table.take();
}

Table phases_table(const Runs& runs) {
  RunTable table(
      runs, "phases", "calls of a step by phase, at the largest batch of each backend",
      {"backend", "batch", "fusion", "modes", "phase", "ops", "calls", "by_library", "own"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const Group& group : largest_groups_of(runs[run])) add_phases(table, run, group);
  }
  return table.take();
}

Table bytes_table(const Runs& runs) {
  RunTable table(runs, "step-bytes",
                 "bytes and arithmetic of a step, by the ops' own account, and how it is recorded",
                 {"backend", "batch", "arm", "input_bytes", "intermediates", "fewest_bytes",
                  "flops", "recorded_as", "inputs_copied"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const auto& [key, group] : groups_of(runs[run])) {
      for (const ArmRecord* arm : group) {
        if (arm->counts.ops == 0) continue;
        std::vector<Cell> row = arm_cells(*arm);
        row.push_back(bytes_cell(static_cast<double>(arm->counts.input_bytes)));
        row.push_back(bytes_cell(static_cast<double>(arm->counts.intermediate_bytes)));
        row.push_back(arm->fewest_bytes > 0.0 ? bytes_cell(arm->fewest_bytes) : Cell("-"));
        row.push_back(flops_cell(arm->flops));
        row.emplace_back(arm->recorded_as.empty() ? "-" : arm->recorded_as);
        row.emplace_back(arm->inputs_copied);
        table.add(run, std::move(row));
      }
    }
  }
  return table.take();
}

Table submissions_table(const std::vector<SubmissionRecord>& submissions) {
  Table table("submissions", kSubmissions, columns(submission_keys()));
  for (const SubmissionRecord& row : submissions) table.add(submission_cells(row));
  return table;
}

Table submissions_table(const Runs& runs) {
  RunTable table(runs, "submissions", kSubmissions, submission_keys());
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const SubmissionRecord& row : runs[run].submissions) {
      table.add(run, submission_cells(row));
    }
  }
  return table.take();
}

}  // namespace stepscope
