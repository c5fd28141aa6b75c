// What a run came for: verdicts, times, ratios, where the time goes.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/record/simulated.h"
#include "bench/report/figures.h"
#include "bench/report/numbers.h"
#include "bench/report/sections.h"
#include "bench/report/statements.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

bool has_controls(const Record& record) {
  return std::any_of(record.pairs.begin(), record.pairs.end(),
                     [](const PairRecord& pair) { return pair.kind != "arm"; });
}

bool all_simulated(const Runs& runs) {
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (!is_simulated(runs[run])) return false;
  }
  return runs.size() > 0;  // a report of nothing is of no model
}

std::string why_no_ratio(const Runs& runs) {
  std::vector<std::string> names;
  for (const Record& record : runs) {
    for (const std::string& name : simulated_backends(record)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return fmt::format("a ratio, for {}", why_simulated(names));
}

// Why a run has no ratio to quote.
void say_voids(Section& section, const Runs& runs) {
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const Record& record = runs[run];
    if (is_void(record)) {
      section.text.push_back(of_run(
          runs, run,
          fmt::format("{}: no ratio of it may be quoted, and none is shown{}", status_line(record),
                      has_controls(record) ? " but those of the controls" : "")));
    } else if (record.status == "complete" && !record.status_reason.empty()) {
      section.text.push_back(of_run(
          runs, run, fmt::format("void, with the pairs that it judges: {}", record.status_reason)));
    }
  }
}

void say_gates(Section& section, const Runs& runs) {
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const std::string& line : gate_lines(runs[run])) {
      if (line.starts_with("by: ")) {
        section.text.back() += fmt::format("; {}", line);  // how many, and by what
      } else {
        section.text.push_back(of_run(runs, run, line));
      }
    }
    const std::string voids = voids_line(runs[run]);
    if (!voids.empty()) section.text.push_back(of_run(runs, run, voids));
  }
}

constexpr const char* kWhyVoid = "why stands under \"Is the difference real?\"";

// The first section says why.
void say_no_marks(Section& section, const Runs& runs) {
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const Record& record = runs[run];
    if (is_void(record)) {
      section.text.push_back(
          of_run(runs, run, fmt::format("{}: no ratio is shown; {}", record.status, kWhyVoid)));
    } else if (record.status == "complete" && !record.status_reason.empty()) {
      section.text.push_back(
          of_run(runs, run, fmt::format("some pairs are void and have no mark; {}", kWhyVoid)));
    }
  }
}

// Where all runs say the same, once.
void note_untraced(Section& section, const Runs& runs) {
  std::vector<std::string> lines;
  for (const Record& record : runs) lines.push_back(untraced_line(record));
  const bool alike = std::all_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.empty() || line == lines.front();
  });
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (lines[run].empty()) continue;
    section.notes.push_back(alike ? lines[run] : of_run(runs, run, lines[run]));
    if (alike) return;
  }
}

}  // namespace

Section verdicts_section(const Runs& runs) {
  Section section{"verdicts", "Is the difference real?", {}, {}, {}, {}};
  if (all_simulated(runs)) {
    return finished(std::move(section), runs, why_no_ratio(runs));
  }
  section.text.emplace_back(
      "FASTER and SLOWER need the whole 95 % interval outside the band of SAME, SAME needs it "
      "inside; UNDECIDED is a proper result, which more time may settle. The band is as wide as "
      "what the run cannot tell apart: an arm held against itself shows it.");
  say_voids(section, runs);
  say_gates(section, runs);
  add(section, verdict_table(runs));
  add(section, between_table(runs));
  add_or_note(section, baseline_table(runs), "against an older record", "none was given");
  add_or_note(section, control_table(runs), "the base against itself",
              "no control was run, so nothing says what this run can tell apart");
  add(section, band_table(runs));
  add(section, undecided_table(runs));
  add(section, voids_table(runs));
  const std::size_t before = section.tables.size();
  add(section, flags_table(runs));
  if (section.tables.size() == before) section.notes.emplace_back("flags: none was raised");
  return finished(std::move(section), runs, "no pair of arms was compared");
}

Section time_section(const Runs& runs) {
  Section section{"time", "Time per step against batch size", {}, {}, {}, {}};
  section.text.emplace_back(
      "Throughput lets steps follow each other, and dispatch may hide behind computing; latency "
      "waits for each step. They answer different questions and are never mixed.");
  for (const ModelRuns& model : by_model(runs)) add(section, time_figures(runs, model));
  add(section, throughput_table(runs));
  add(section, latency_table(runs));
  add_or_note(section, device_table(runs), "device time",
              "these backends have no clock of their own");
  add_or_note(section, submission_table(runs), "submitted-only",
              "a call of these backends returns when its work has ended, or it was not asked for");
  return finished(std::move(section), runs, "no arm was timed");
}

Section ratio_section(const Runs& runs) {
  Section section{"ratio", "What a graph, a plan and fusion change, by batch", {}, {}, {}, {}};
  section.text.emplace_back(
      "Time of one arm over time of another that differs in one thing alone, at the same batch. A "
      "mark without a bar has no interval: too few processes measured it.");
  for (const ModelRuns& model : by_model(runs)) {
    for (FigureGroup& group : ratio_figures(runs, model)) add(section, std::move(group));
  }
  if (!section.figures.empty()) say_no_marks(section, runs);  // else it is why there is nothing
  add_or_note(section, crossover_table(runs), "crossover batch",
              "it takes verdicts at two batch sizes or more");
  std::string why = "no two arms differ in mode or fusion alone";
  for (const Record& record : runs) {
    if (is_void(record)) why = fmt::format("{}: {}", record.status, kWhyVoid);
    if (record.status == kSimulated) why = status_line(record);
  }
  return finished(std::move(section), runs, why);
}

Section where_section(const Runs& runs) {
  Section section{"where", "Where the time goes", {}, {}, {}, {}};
  section.text.emplace_back(
      "Each number is a measurement of its own. None is made by subtracting another: dispatch may "
      "overlap with computing, so a difference would be no time of anything.");
  for (const ModelRuns& model : by_model(runs)) {
    add(section, where_figures(runs, model));
    add(section, loss_figures(runs, model));
  }
  add(section, where_table(runs));
  add(section, dispatch_table(runs));
  add(section, epochs_table(runs));
  note_untraced(section, runs);
  return finished(std::move(section), runs, "no arm was timed");
}

}  // namespace stepscope
