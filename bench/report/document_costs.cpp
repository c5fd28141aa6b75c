// What a step is made of and costs: counts, fusion, once, memory, limits.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bench/report/figures.h"
#include "bench/report/sections.h"
#include "bench/report/tables.h"

namespace stepscope {

Section counts_section(const Runs& runs) {
  Section section{"counts", "Launches and bytes", {}, {}, {}, {}};
  section.text.emplace_back(
      "Ops of the program, submissions of the host and calls that computed are three different "
      "numbers. They are counted, not timed, and hold for every step.");
  for (const ModelRuns& model : by_model(runs)) {
    add(section, submission_figures(runs, model));
    add(section, phase_figures(runs, model));
  }
  add(section, counts_table(runs));
  add(section, phases_table(runs));
  add(section, bytes_table(runs));
  add(section, submissions_table(runs));
  return finished(std::move(section), runs, "no step was counted");
}

Section fusion_section(const Runs& runs) {
  Section section{"fusion", "What each fusion removes", {}, {}, {}, {}};
  for (const ModelRuns& model : by_model(runs)) {
    add(section, pass_figures(runs, model));
    add(section, ablation_figures(runs, model));
  }
  add(section, passes_table(runs));
  add_or_note(section, ablation_table(runs), "what each pass is worth by itself",
              "stepscope compare --ablate leaves one out at a time");
  return finished(std::move(section), runs, "no arm was fused");
}

Section once_section(const Runs& runs) {
  Section section{"once", "What is paid once, and when it is paid back", {}, {}, {}, {}};
  section.text.emplace_back(
      "Compile, capture, instantiate, upload and the first step are paid once, between backends "
      "also init; an arm pays them back when the time that its steps save has added up to what it "
      "cost more than its base. Warm-up is a rule of measuring and enters no break-even.");
  add(section, one_off_table(runs));
  add_or_note(section, break_even_table(runs), "steps to pay back", "no pair has an answer");
  return finished(std::move(section), runs, "no one-off cost was timed");
}

Section memory_section(const Runs& runs) {
  Section section{"memory", "Memory", {}, {}, {}, {}};
  section.text.emplace_back(
      "Allocated is what live tensors hold, reserved what is held for them, in use or not. The "
      "first step and the steps after warm-up are two windows, each with a peak of its own.");
  for (const ModelRuns& model : by_model(runs)) add(section, memory_figures(runs, model));
  add(section, memory_table(runs));
  add(section, owners_table(runs));
  return finished(std::move(section), runs, "memory was not counted");
}

Section roofline_section(const Runs& runs) {
  Section section{"roofline", "How near the machine's limits", {}, {}, {}, {}};
  section.text.emplace_back(
      "A lower bound is the shortest time that the work could take if nothing but arithmetic, or "
      "nothing but bytes, took time. It is no utilization, and no time of a kernel.");
  for (const ModelRuns& model : by_model(runs)) add(section, roofline_figures(runs, model));
  add(section, roofline_table(runs));
  add(section, utilization_table(runs));
  for (std::string& line : unused_quantities(runs)) section.notes.push_back(std::move(line));
  return finished(std::move(section), runs,
                  "no arm was timed whose ops have an account of their work");
}

}  // namespace stepscope
