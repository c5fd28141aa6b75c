// What all of it rests on: the instrument, the machine, and what it holds for.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bench/report/sections.h"
#include "bench/report/sentences.h"
#include "bench/report/statements.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

void say_command(Section& section, const Runs& runs, std::size_t run) {
  const Record& record = runs[run];
  std::vector<std::string> parts;
  if (!record.version.empty()) parts.push_back(fmt::format("stepscope {}", record.version));
  if (!record.created.empty()) parts.push_back(record.created);
  if (!record.command.empty()) parts.push_back(fmt::format("as: {}", record.command));
  if (!parts.empty()) {
    section.text.push_back(of_run(runs, run, fmt::format("{}", fmt::join(parts, ", "))));
  }
  if (!record.schedule) return;
  section.text.push_back(
      of_run(runs, run,
             fmt::format("{}; {}", schedule_line(*record.schedule), claim_line(*record.schedule))));
}

}  // namespace

Section instrument_section(const Runs& runs) {
  Section section{"instrument", "What the instrument and the machine cost", {}, {}, {}, {}};
  section.text.emplace_back(
      "Measured in the run itself and never subtracted from a time. The gates are the proof that "
      "the arms did equal work; an arm that fails one is not timed.");
  add_or_note(section, gates_table(runs), "that the work was equal", "nothing was to compare");
  add_or_note(section, calibration_table(runs), "what the instrument costs",
              "the run did not calibrate");
  return finished(std::move(section), runs, "the run neither calibrated nor compared");
}

Section environment_section(const Runs& runs) {
  Section section{"environment", "On what it ran", {}, {}, {}, {}};
  for (std::size_t run = 0; run < runs.size(); ++run) {
    section.text.push_back(of_run(runs, run, scope_sentence(runs[run])));
    say_command(section, runs, run);
    for (const std::string& note : runs[run].notes) {
      section.notes.push_back(of_run(runs, run, note));
    }
  }
  section.notes.emplace_back(
      "Two machines are two experiments; a bias that every process shares, such as the layout of "
      "the code in this binary, is in no interval.");
  add(section, environment_table(runs));
  add(section, backends_table(runs));
  add(section, protocol_table(runs));
  if (!section.tables.empty()) return section;
  section.text.emplace_back("not measured: the record has no facts of its environment");
  return section;
}

}  // namespace stepscope
