// Parts of figures.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/figure_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/record/simulated.h"
#include "bench/report/looks.h"
#include "bench/report/numbers.h"

namespace stepscope {
namespace {

Curves& curves_for(std::vector<Curves>& all, const ArmRecord& arm) {
  const std::string backend = labelled_backend(arm);
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const Curves& curves) { return curves.backend == backend; });
  if (at != all.end()) return *at;
  all.push_back({backend, {}, arm.simulated});
  return all.back();
}

Series& series_for(Curves& curves, const std::string& name, const Look& look) {
  const auto at = std::find_if(curves.series.begin(), curves.series.end(),
                               [&](const Series& series) { return series.name == name; });
  if (at != curves.series.end()) return *at;
  curves.series.push_back({name, look, true, {}});
  return curves.series.back();
}

bool several_models(const Runs& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const Record& record) { return record.work.model != runs[0].work.model; });
}

}  // namespace

bool Curves::empty() const {
  return std::all_of(series.begin(), series.end(),
                     [](const Series& each) { return each.marks.empty(); });
}

std::string series_name(const Runs& runs, const ModelRuns& model, std::size_t run,
                        std::string_view name) {
  return model.joined ? std::string(name) : fmt::format("{}, run {}", name, run_name(runs, run));
}

Look look_in_run(const ModelRuns& model, std::size_t run, Look look) {
  if (model.joined) return look;
  const auto at = std::find(model.runs.begin(), model.runs.end(), run);
  look.shape = static_cast<std::uint8_t>((look.shape + 3 * (at - model.runs.begin())) % 6);
  return look;
}

std::vector<Curves> curves_of(const Runs& runs, const ModelRuns& model,
                              const std::function<std::optional<Mark>(const ArmRecord&)>& mark_of) {
  std::vector<Curves> all;
  for (const std::size_t run : model.runs) {
    for (const ArmRecord& arm : runs[run].arms) {
      if (arm.role != "arm") continue;
      Curves& curves = curves_for(all, arm);
      const std::optional<Mark> mark = mark_of(arm);
      if (!mark) continue;
      const Look look = look_of_arm(arm.mode_requested, arm.fusion);
      series_for(curves, series_name(runs, model, run, arm_name(arm)),
                 look_in_run(model, run, look))
          .marks.push_back(*mark);
    }
  }
  for (Curves& curves : all) {
    for (Series& series : curves.series) {
      std::stable_sort(series.marks.begin(), series.marks.end(),
                       [](const Mark& a, const Mark& b) { return a.x < b.x; });
    }
  }
  return all;
}

std::vector<Placed> placed_groups(const Runs& runs, const ModelRuns& model, Ends ends) {
  std::vector<Placed> all;
  for (const std::size_t run : model.runs) {
    for (const auto& [key, group] : groups_of(runs[run])) {
      all.push_back({run, labelled_backend(*group.front()), key.second, group});
    }
  }
  const auto together = [&](const Placed& a, const Placed& b) {
    return a.backend == b.backend && (model.joined || a.run == b.run);
  };
  std::stable_sort(all.begin(), all.end(), [&](const Placed& a, const Placed& b) {
    if (a.backend != b.backend) return a.backend < b.backend;
    if (!model.joined && a.run != b.run) return a.run < b.run;
    return a.batch < b.batch;
  });
  std::vector<Placed> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool smallest = i == 0 || !together(all[i - 1], all[i]);
    const bool largest = i + 1 == all.size() || !together(all[i], all[i + 1]);
    if (largest || (smallest && ends == Ends::both)) kept.push_back(all[i]);
  }
  return kept;
}

std::string title_of(const Runs& runs, const ModelRuns& model, const Placed& placed) {
  const bool several = model.runs.size() > 1;
  return fmt::format("{}, batch {}{}", placed.backend, placed.batch,
                     several ? fmt::format(", run {}", run_name(runs, placed.run)) : "");
}

FigureGroup make_group(const Runs& runs, const ModelRuns& model, std::string_view id,
                       std::string_view title, std::string how) {
  if (model.joined && model.runs.size() > 1) {
    how += " Lines lead through marks of several runs on one machine.";
  }
  const bool several = several_models(runs);
  return {several ? fmt::format("{}-{}", id, slug(model.model)) : std::string(id),
          several ? fmt::format("{}, {}", title, model.model) : std::string(title),
          std::move(how),
          {}};
}

Figure make_figure(const FigureGroup& group, std::string_view title) {
  Figure figure;
  figure.id = fmt::format("{}-{}", group.id, slug(title));
  figure.title = std::string(title);
  return figure;
}

std::string ends_text(const Figure& figure) {
  const auto value = [&](double y) {
    const bool whole = figure.kind == Figure::Kind::bars && y == std::floor(y);
    return whole ? fmt::format("{:.0f}", y) : digits_text(y);
  };
  const auto place = [&](const Mark& mark) {
    const auto name = static_cast<std::size_t>(std::max(mark.x, 0.0));
    const std::string x =
        name < figure.x.names.size() ? figure.x.names[name] : fmt::format("{:g}", mark.x);
    return fmt::format("{} at {}", value(mark.y), x);
  };
  std::vector<std::string> parts;
  for (const Series& series : figure.series) {
    if (series.marks.empty()) continue;
    std::vector<std::string> marks;
    for (const Mark& mark : series.marks) marks.push_back(place(mark));
    const bool ends = figure.x.names.empty() && marks.size() > 1;
    parts.push_back(ends ? fmt::format("{}: {} to {}", series.name, marks.front(), marks.back())
                         : fmt::format("{}: {}", series.name, fmt::join(marks, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace stepscope
