// Counts as bars: submissions, calls, ops before and after passes.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/report/figure_parts.h"
#include "bench/report/figures.h"
#include "bench/report/looks.h"

namespace stepscope {
namespace {

std::size_t index_in(std::vector<std::string>& names, const std::string& name) {
  const auto at = std::find(names.begin(), names.end(), name);
  const auto index = static_cast<std::size_t>(at - names.begin());
  if (at == names.end()) names.push_back(name);
  return index;
}

// The series of that name, made with its look when it is new.
Series& series_in(Figure& figure, const std::string& name, const Look& look) {
  const auto at = std::find_if(figure.series.begin(), figure.series.end(),
                               [&](const Series& series) { return series.name == name; });
  if (at != figure.series.end()) return *at;
  figure.series.push_back({name, look, false, {}});
  return figure.series.back();
}

Mark bar(std::size_t at, double value) { return {static_cast<double>(at), value, {}, {}}; }

Figure bars(const FigureGroup& group, const std::string& title, const char* label) {
  Figure figure = make_figure(group, title);
  figure.kind = Figure::Kind::bars;
  figure.y.label = label;
  return figure;
}

void finish(FigureGroup& group, Figure figure, const char* what) {
  if (figure.series.empty()) return;
  figure.alt = fmt::format("{}, {}. {}.", what, figure.title, ends_text(figure));
  group.figures.push_back(std::move(figure));
}

std::string fusion_name(const ArmRecord& arm) {
  return arm.fusion == kUnfused ? "unfused" : arm.fusion == kAllPasses ? "all passes" : arm.fusion;
}

void add_phases(Figure& figure, std::vector<std::string>& phases, const ArmRecord& arm) {
  const std::string fusion = fusion_name(arm);
  const auto& names = figure.x.names;
  if (std::find(names.begin(), names.end(), fusion) != names.end()) return;  // as in another mode
  const std::size_t at = index_in(figure.x.names, fusion);
  for (const PhaseCalls& phase : arm.counts.by_phase) {
    const std::size_t kind = index_in(phases, phase.phases);
    series_in(figure, phase.phases, look_of_kind(kind))
        .marks.push_back(bar(at, static_cast<double>(phase.calls)));
  }
}

// The arm whose passes are shown: with all of them, else with any.
const ArmRecord* fused_arm(const Group& group) {
  const ArmRecord* fused = nullptr;
  for (const ArmRecord* arm : group) {
    if (arm->passes.empty() || arm->fusion == kUnfused) continue;
    if (fused == nullptr || (arm->fusion == kAllPasses && fused->fusion != kAllPasses)) fused = arm;
  }
  return fused;
}

}  // namespace

FigureGroup submission_figures(const Runs& runs, const ModelRuns& model) {
  FigureGroup group =
      make_group(runs, model, "submissions-of-a-step", "Submissions of a step",
                 "A bar is what the host hands over in one step: launches one by one, or replays.");
  for (const Placed& placed : placed_groups(runs, model, Ends::largest)) {
    Figure figure = bars(group, title_of(runs, model, placed), "submissions of a step");
    for (const ArmRecord* arm : placed.group) {
      if (arm->counts.ops == 0) continue;
      const std::size_t at = index_in(figure.x.names, arm->mode_executed);
      series_in(figure, fusion_name(*arm), look_of_arm("", arm->fusion))
          .marks.push_back(bar(at, static_cast<double>(arm->counts.submissions)));
    }
    finish(group, std::move(figure), "Submissions of a step by mode");
  }
  return group;
}

FigureGroup phase_figures(const Runs& runs, const ModelRuns& model) {
  FigureGroup group = make_group(
      runs, model, "calls-by-phase", "Calls of a step by what they are for",
      "A bar is the calls that reached a library or an own kernel; a fused op is for several "
      "phases at once, and is counted where all of them are named.");
  std::vector<std::string> phases;  // of all figures: a phase looks alike in each
  for (const Placed& placed : placed_groups(runs, model, Ends::largest)) {
    Figure figure = bars(group, title_of(runs, model, placed), "calls of a step");
    for (const ArmRecord* arm : placed.group) {
      if (!arm->counts.by_phase.empty()) add_phases(figure, phases, *arm);
    }
    finish(group, std::move(figure), "Calls of a step by phase");
  }
  return group;
}

FigureGroup pass_figures(const Runs& runs, const ModelRuns& model) {
  FigureGroup group = make_group(runs, model, "ops-by-pass", "Ops before and after each pass",
                                 "Passes in the order in which they ran; those that changed "
                                 "nothing are left out.");
  for (const Placed& placed : placed_groups(runs, model, Ends::largest)) {
    const ArmRecord* const arm = fused_arm(placed.group);
    if (arm == nullptr) continue;
    Figure figure = bars(group, title_of(runs, model, placed), "ops of the step");
    for (const PassRecord& pass : arm->passes) {
      if (!pass.changed) continue;
      const std::size_t at = figure.x.names.size();
      figure.x.names.push_back(pass.name);
      series_in(figure, "ops before", look_of_arm("", kUnfused))
          .marks.push_back(bar(at, static_cast<double>(pass.ops_before)));
      series_in(figure, "ops after", look_of_arm("", kAllPasses))
          .marks.push_back(bar(at, static_cast<double>(pass.ops_after)));
    }
    finish(group, std::move(figure), "Ops of the step before and after each pass");
  }
  return group;
}

}  // namespace stepscope
