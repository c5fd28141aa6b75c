// Ratios with their intervals, against batch size and by pass.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/report/clauses.h"
#include "bench/report/figure_parts.h"
#include "bench/report/figures.h"
#include "bench/report/looks.h"
#include "bench/report/numbers.h"
#include "bench/report/questions.h"

namespace stepscope {
namespace {

struct Asked {
  About about;
  const char* id;
  const char* title;
  const char* how;
};
constexpr Asked kAsked[] = {
    {About::graph_over_eager, "graph-over-eager", "What a graph changes: graph over eager",
     "Below 1, one replay is faster than looking up, taking memory, binding and submitting each "
     "op."},
    {About::graph_over_planned, "graph-over-planned", "What recording changes: graph over planned",
     "Below 1, one replay is faster than submitting each op; all else is alike."},
    {About::planned_over_eager, "planned-over-eager", "What a plan changes: planned over eager",
     "Below 1, fixed memory and bound kernels are faster than looking up and binding each step."},
    {About::fusion, "fused-over-unfused", "What fusion changes: fused over unfused",
     "Below 1, fewer calls and fewer bytes are faster."},
    {About::backends, "between-backends", "One backend over the other",
     "Below 1, the first is faster, process against process."}};

constexpr const char* kBars = "Bars: 95 % intervals; grey: the widest band of SAME of these pairs.";

std::optional<Mark> ratio_mark(double x, const RatioRecord& ratio) {
  if (!ratio.time_ratio || ratio.time_ratio->estimate <= 0.0) return std::nullopt;
  if (ratio.verdict == "void") return std::nullopt;
  const Interval& time = *ratio.time_ratio;
  const bool interval = time.low && time.high;
  return Mark{x, time.estimate, interval ? time.low : std::nullopt,
              interval ? time.high : std::nullopt};
}

Axis ratio_axis() {
  return {.label = "time ratio", .logarithmic = false, .names = {}, .least = {}, .most = {}};
}

void widen(std::optional<double>& most, const RatioRecord& ratio) {
  if (ratio.delta && (!most || *ratio.delta > *most)) most = ratio.delta;
}

// Where nothing changes, and what cannot be told from it.
void add_band(Figure& figure, const std::optional<double>& delta) {
  figure.guides.push_back({Guide::Across::y, 1.0, {}, ""});
  if (!delta) return;
  figure.guides.push_back({Guide::Across::y, 1.0 / (1.0 + *delta), 1.0 + *delta, "SAME"});
}

std::string name_of(const Question& question, const std::string& stratum) {
  const PairView& first = question.views.front();
  std::string name = question.crosses
                         ? arm_name(*first.of)
                         : fmt::format("{} over {}", arm_name(*first.of), arm_name(*first.base));
  if (!stratum.empty() && stratum != "single") name += fmt::format(", {} cores", stratum);
  return question.tag.empty() ? name : fmt::format("{}, {}", name, question.tag);
}

std::vector<std::string> strata_of(const Question& question) {
  std::vector<std::string> strata;
  for (const PairView& view : question.views) {
    for (const RatioRecord& ratio : view.pair->ratios) {
      if (std::find(strata.begin(), strata.end(), ratio.stratum) == strata.end()) {
        strata.push_back(ratio.stratum);
      }
    }
  }
  return strata;
}

Look look_in_stratum(Look look, std::string_view stratum) {
  if (stratum == "far") look.shape = static_cast<std::uint8_t>((look.shape + 3) % 6);
  return look;
}

// A series for each stratum: they are never mixed.
void add_question(Figure& figure, std::optional<double>& delta, const ModelRuns& model,
                  const Question& question) {
  const ArmRecord& of = *question.views.front().of;
  const Look look =
      look_in_run(model, question.runs.front(), look_of_arm(of.mode_requested, of.fusion));
  for (const std::string& stratum : strata_of(question)) {
    Series series{name_of(question, stratum), look_in_stratum(look, stratum), true, {}};
    for (const PairView& view : question.views) {
      for (const RatioRecord& ratio : view.pair->ratios) {
        if (ratio.stratum != stratum) continue;
        const auto mark = ratio_mark(static_cast<double>(view.of->batch), ratio);
        if (!mark) continue;
        series.marks.push_back(*mark);
        widen(delta, ratio);
      }
    }
    if (!series.marks.empty()) figure.series.push_back(std::move(series));
  }
  if (const std::optional<std::int64_t> batch = crossover_batch(question.views)) {
    figure.guides.push_back({Guide::Across::x,
                             static_cast<double>(*batch),
                             {},
                             fmt::format("{}: crossover {}", arm_name(of), *batch)});
  }
}

std::string title_of(const Question& question) {
  return question.crosses
             ? fmt::format("{} over {}", question.backend, question.views.front().base->backend)
             : question.backend;
}

std::string crossovers_text(const Figure& figure) {
  std::vector<std::string> parts;
  for (const Guide& guide : figure.guides) {
    if (guide.axis == Guide::Across::x) parts.push_back(guide.label);
  }
  return parts.empty() ? "" : fmt::format(" {}.", fmt::join(parts, "; "));
}

// The figure of these questions, which share a title.
Figure ratio_figure(const FigureGroup& group, const ModelRuns& model, const std::string& title,
                    const std::vector<const Question*>& questions) {
  Figure figure = make_figure(group, title);
  figure.x = {.label = "batch", .logarithmic = true, .names = {}, .least = {}, .most = {}};
  figure.y = ratio_axis();
  figure.spread = Figure::Spread::bars;
  std::optional<double> delta;
  for (const Question* question : questions) add_question(figure, delta, model, *question);
  add_band(figure, delta);
  if (figure.series.empty()) {
    figure.missing = fmt::format("{}: no pair has a ratio", kNotMeasured);
  }
  figure.alt = fmt::format("Time ratio against batch size, {}. {}.{}", title, ends_text(figure),
                           crossovers_text(figure));
  return figure;
}

// The pairs of the arm with all passes and of those that leave one out, and their passes.
std::vector<std::pair<std::string, PairView>> ablated_pairs(const Record& record,
                                                            const Group& group,
                                                            const std::string& mode) {
  std::vector<std::pair<std::string, PairView>> pairs;
  const ArmRecord& all = *find_arm(group, mode, kAllPasses);
  for (const PassRecord& pass : all.passes) {
    const ArmRecord* const left_out = find_arm(group, mode, without(pass.name));
    const PairView view = left_out == nullptr ? PairView{} : find_pair(record, all, *left_out);
    if (view.pair != nullptr) pairs.emplace_back(pass.name, view);
  }
  return pairs;
}

// A pass in its stratum; a series for each stratum, as in questions.
void add_pass(Figure& figure, const std::string& pass, const RatioRecord& ratio, const Look& look) {
  const std::string cores = cores_of(ratio);
  std::vector<std::string>& names = figure.x.names;
  const bool known = !names.empty() && names.back() == pass;
  const auto mark = ratio_mark(static_cast<double>(names.size() - (known ? 1 : 0)), ratio);
  if (!mark) return;
  if (!known) names.push_back(pass);
  const std::string name = fmt::format("without the pass over with all{}",
                                       cores.empty() ? "" : fmt::format(", {} cores", cores));
  auto at = std::find_if(figure.series.begin(), figure.series.end(),
                         [&](const Series& series) { return series.name == name; });
  if (at == figure.series.end()) {
    at = figure.series.insert(at, {name, look_in_stratum(look, ratio.stratum), false, {}});
  }
  at->marks.push_back(*mark);
}

void add_ablation(FigureGroup& figures, const Runs& runs, const ModelRuns& model,
                  const Placed& placed, const std::string& mode) {
  Figure figure = make_figure(figures, fmt::format("{}, {}", title_of(runs, model, placed), mode));
  std::optional<double> delta;
  for (const auto& [pass, view] : ablated_pairs(runs[placed.run], placed.group, mode)) {
    for (const RatioRecord& ratio : view.pair->ratios) {
      add_pass(figure, pass, ratio, look_of_arm(mode, "-"));
      if (ratio_mark(0.0, ratio)) widen(delta, ratio);
    }
  }
  if (figure.series.empty()) return;
  figure.y = ratio_axis();
  figure.spread = Figure::Spread::bars;
  add_band(figure, delta);
  figure.alt = fmt::format("Time without each pass over time with all, {}. {}.", figure.title,
                           ends_text(figure));
  figures.figures.push_back(std::move(figure));
}

}  // namespace

std::vector<FigureGroup> ratio_figures(const Runs& runs, const ModelRuns& model) {
  std::vector<FigureGroup> groups;
  const std::vector<Question> questions = questions_of(runs, model);
  for (const Asked& asked : kAsked) {
    FigureGroup group =
        make_group(runs, model, asked.id, asked.title, fmt::format("{} {}", asked.how, kBars));
    std::vector<std::pair<std::string, std::vector<const Question*>>> by_title;
    for (const Question& question : questions) {
      if (question.about != asked.about) continue;
      const std::string title = title_of(question);
      if (by_title.empty() || by_title.back().first != title) by_title.push_back({title, {}});
      by_title.back().second.push_back(&question);
    }
    for (const auto& [title, asking] : by_title) {
      group.figures.push_back(ratio_figure(group, model, title, asking));
    }
    if (!group.figures.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

FigureGroup ablation_figures(const Runs& runs, const ModelRuns& model) {
  FigureGroup figures = make_group(
      runs, model, "pass-worth", "What each pass is worth",
      "Time with one pass left out over time with all: above 1 the pass is worth it. A bar is the "
      "95 % interval, the grey band what the run calls SAME.");
  for (const Placed& placed : placed_groups(runs, model, Ends::both)) {
    if (is_void(runs[placed.run])) continue;
    for (const std::string& mode : ablated_modes(placed.group)) {
      add_ablation(figures, runs, model, placed, mode);
    }
  }
  return figures;
}

}  // namespace stepscope
