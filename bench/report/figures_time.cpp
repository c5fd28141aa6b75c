// Times, memory and losses as figures.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/record/simulated.h"
#include "bench/report/figure_parts.h"
#include "bench/report/figures.h"
#include "bench/report/looks.h"
#include "bench/report/numbers.h"

namespace stepscope {
namespace {

constexpr double kNsPerUs = 1000.0, kBytesPerKib = 1024.0;

// In us: the median between the quartiles. Nothing for what was not measured.
std::optional<Mark> time_mark(double x, const TimeSummary& time) {
  if (time.count == 0 || time.median_ns <= 0.0) return std::nullopt;
  return Mark{x, time.median_ns / kNsPerUs, time.q1_ns / kNsPerUs, time.q3_ns / kNsPerUs};
}

void add_curves(FigureGroup& group, std::vector<Curves> all, const Axis& y, const char* what,
                const char* missing) {
  const bool any =
      std::any_of(all.begin(), all.end(), [](const Curves& curves) { return !curves.empty(); });
  if (!any) return;
  for (Curves& curves : all) {
    Figure figure = make_figure(group, curves.backend);
    figure.x = {.label = "batch", .logarithmic = true, .names = {}, .least = {}, .most = {}};
    figure.y = y;
    if (curves.empty()) {
      figure.missing =
          fmt::format("{}: {}", kNotMeasured, curves.simulated ? kNoTimeOfGpu : missing);
    }
    figure.series = std::move(curves.series);
    figure.alt = fmt::format("{} against batch size on {}, both axes logarithmic. {}.", what,
                             curves.backend, ends_text(figure));
    group.figures.push_back(std::move(figure));
  }
}

// What is timed of one arm.
struct Kind {
  const char* name;
  TimeSummary (*of)(const ArmRecord& arm);
};
constexpr Kind kKinds[] = {
    {"dispatch alone",
     [](const ArmRecord& arm) { return arm.dispatch_empty_kernels.value_or(TimeSummary{}); }},
    {"input copy", [](const ArmRecord& arm) { return arm.input_copy_summary; }},
    {"step, latency", [](const ArmRecord& arm) { return arm.latency_summary; }},
    {"step, throughput", [](const ArmRecord& arm) { return arm.throughput_summary; }}};

std::vector<Series> kinds_of(const Group& group) {
  std::vector<Series> all;
  for (std::size_t kind = 0; kind < std::size(kKinds); ++kind) {
    Series series{kKinds[kind].name, look_of_kind(kind), false, {}};
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (const auto mark = time_mark(static_cast<double>(i), kKinds[kind].of(*group[i]))) {
        series.marks.push_back(*mark);
      }
    }
    if (!series.marks.empty()) all.push_back(std::move(series));
  }
  return all;
}

Mark loss_mark(std::int64_t epoch, double loss) {
  return {static_cast<double>(epoch), loss, {}, {}};
}

void add_losses(Figure& figure, const std::vector<EpochRecord>& epochs) {
  Series training{"training", look_of_kind(0), true, {}};
  Series validation{"validation", look_of_kind(1), true, {}};
  for (const EpochRecord& epoch : epochs) {
    if (std::isfinite(epoch.training_loss)) {
      training.marks.push_back(loss_mark(epoch.epoch, epoch.training_loss));
    }
    if (std::isfinite(epoch.validation_loss)) {
      validation.marks.push_back(loss_mark(epoch.epoch, epoch.validation_loss));
    }
  }
  figure.series = {std::move(training), std::move(validation)};
  figure.series.erase(std::remove_if(figure.series.begin(), figure.series.end(),
                                     [](const Series& series) { return series.marks.empty(); }),
                      figure.series.end());
  if (figure.series.empty()) figure.missing = "not measured: no loss was finite";
}

}  // namespace

FigureGroup time_figures(const Runs& runs, const ModelRuns& model) {
  FigureGroup group = make_group(
      runs, model, "step-time", "Time per step against batch size",
      "A mark is the median of steps in blocks (throughput), the band around a line half of the "
      "samples: from the first to the third quartile.");
  add_curves(
      group,
      curves_of(runs, model,
                [](const ArmRecord& arm) {
                  // Side by side with others' it would be a ratio.
                  return arm.simulated
                             ? std::nullopt
                             : time_mark(static_cast<double>(arm.batch), arm.throughput_summary);
                }),
      {.label = "time per step, us", .logarithmic = true, .names = {}, .least = {}, .most = {}},
      "Median time per step in us", "no arm was timed in blocks of steps");
  for (Figure& figure : group.figures) figure.spread = Figure::Spread::band;
  return group;
}

FigureGroup memory_figures(const Runs& runs, const ModelRuns& model) {
  FigureGroup group =
      make_group(runs, model, "peak-memory", "Peak memory against batch size",
                 "A mark is the most that live tensors held at once, in steps after warm-up.");
  add_curves(
      group,
      curves_of(runs, model,
                [](const ArmRecord& arm) -> std::optional<Mark> {
                  const auto bytes = static_cast<double>(arm.memory.steady.peak_allocated);
                  if (bytes <= 0.0) return std::nullopt;
                  return Mark{static_cast<double>(arm.batch), bytes / kBytesPerKib, {}, {}};
                }),
      {.label = "peak allocated, KiB", .logarithmic = true, .names = {}, .least = {}, .most = {}},
      "Peak of allocated memory in KiB", "memory was not counted");
  return group;
}

FigureGroup where_figures(const Runs& runs, const ModelRuns& model) {
  FigureGroup group = make_group(
      runs, model, "where", "Dispatch, copy and step, side by side",
      "Each mark is a median of its own, the bar half of its samples. None is part of another: "
      "dispatch alone is timed with empty kernels, and may hide behind computing.");
  for (const Placed& placed : placed_groups(runs, model, Ends::both)) {
    if (placed.group.front()->simulated) continue;
    Figure figure = make_figure(group, title_of(runs, model, placed));
    figure.series = kinds_of(placed.group);
    if (figure.series.empty()) continue;
    for (const ArmRecord* arm : placed.group) figure.x.names.push_back(arm_name(*arm));
    figure.y = {.label = "time, us", .logarithmic = true, .names = {}, .least = {}, .most = {}};
    figure.spread = Figure::Spread::bars;
    figure.alt = fmt::format("Times of each arm on {}, us, logarithmic. {}.", figure.title,
                             ends_text(figure));
    group.figures.push_back(std::move(figure));
  }
  return group;
}

FigureGroup loss_figures(const Runs& runs, const ModelRuns& model) {
  FigureGroup group =
      make_group(runs, model, "loss", "Loss against epoch", "A mark is the mean loss of an epoch.");
  for (const std::size_t run : model.runs) {
    const std::vector<EpochRecord>& epochs = runs[run].epochs;
    if (epochs.size() < 2) continue;
    Figure figure = make_figure(
        group, runs.several() ? fmt::format("run {}", run_name(runs, run)) : "training");
    figure.x = {.label = "epoch", .logarithmic = false, .names = {}, .least = {}, .most = {}};
    figure.y = {.label = "loss", .logarithmic = false, .names = {}, .least = {}, .most = {}};
    add_losses(figure, epochs);
    figure.alt = fmt::format("Mean loss of each epoch. {}.", ends_text(figure));
    group.figures.push_back(std::move(figure));
  }
  return group;
}

}  // namespace stepscope
