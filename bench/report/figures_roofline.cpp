// The roofline: steps between what the core computes and what its memory moves.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bench/report/figure_parts.h"
#include "bench/report/figures.h"
#include "bench/report/looks.h"
#include "bench/report/numbers.h"
#include "bench/report/roofline.h"

namespace stepscope {
namespace {

struct Range {
  double least = 0, most = 0;
};

Range intensities_of(const Figure& figure) {
  Range range;
  for (const Series& series : figure.series) {
    for (const Mark& mark : series.marks) {
      range.least = range.least == 0.0 ? mark.x : std::min(range.least, mark.x);
      range.most = std::max(range.most, mark.x);
    }
  }
  return range;
}

std::string level_name(const std::string& level) {
  if (level == "dram") return "memory";
  std::string name = level;
  name.front() = 'L';
  return name;
}

// A line of slope 1 in the logarithms, as far as the peak.
std::optional<Series> ceiling(const Ceilings::Bandwidth& bandwidth, std::size_t n, double threads,
                              const std::optional<double>& peak, const Range& range) {
  const double rate = bandwidth.gb_per_s * threads;
  const double first = range.least / 2.0;
  double last = range.most * 2.0;
  if (peak) last = std::min(last, *peak / rate);
  if (last <= first) return std::nullopt;
  Series line{fmt::format("{}: {} GB/s", level_name(bandwidth.level), digits_text(rate)),
              look_of_ceiling(n),
              true,
              {}};
  line.marks = {{first, rate * first, {}, {}}, {last, rate * last, {}, {}}};
  return line;
}

// Runs of one machine, work and protocol share a figure; else each has its own, with its ceilings.
std::vector<ModelRuns> machines_of(const Runs& runs, const ModelRuns& model) {
  if (model.joined) return {model};
  std::vector<ModelRuns> each;
  for (const std::size_t run : model.runs) {
    if (!runs[run].arms.empty()) each.push_back({model.model, {run}, true});
  }
  return each;
}

// Of the first run that was calibrated.
Ceilings ceilings_of(const Runs& runs, const ModelRuns& machine) {
  for (const std::size_t run : machine.runs) {
    Ceilings ceilings = ceilings_of(runs[run]);
    if (ceilings.gflops || !ceilings.bandwidths.empty()) return ceilings;
  }
  return {};
}

void add_ceilings(Figure& figure, const Ceilings& ceilings, int threads) {
  const Range range = intensities_of(figure);
  const auto cores = static_cast<double>(std::max(threads, 1));
  std::optional<double> peak = ceilings.gflops;
  if (peak) {
    *peak *= cores;
    figure.guides.push_back(
        {Guide::Across::y, *peak, {}, fmt::format("arithmetic: {} GFLOP/s", digits_text(*peak))});
  }
  for (std::size_t i = 0; i < ceilings.bandwidths.size(); ++i) {
    auto line = ceiling(ceilings.bandwidths[i], i, cores, peak, range);
    if (line) figure.series.push_back(std::move(*line));
  }
}

int threads_of(const Runs& runs, const ModelRuns& machine) {
  int most = 1;
  for (const std::size_t run : machine.runs) {
    for (const ArmRecord& arm : runs[run].arms) most = std::max(most, arm.threads);
  }
  return most;
}

// What the lines are; of the runs that have none, why.
std::string lines_text(const Runs& runs, const std::vector<ModelRuns>& machines) {
  std::set<int> cores;
  std::vector<std::string> without;
  for (const ModelRuns& machine : machines) {
    const Ceilings ceilings = ceilings_of(runs, machine);
    if (ceilings.gflops || !ceilings.bandwidths.empty()) {
      cores.insert(threads_of(runs, machine));
    } else {
      without.push_back(run_name(runs, machine.runs.front()));
    }
  }
  if (cores.empty()) {
    return fmt::format("Ceilings: {}, the run did not calibrate the machine", kNotMeasured);
  }
  return fmt::format(
      "The lines are what the calibration found {} can do at best: arithmetic, and bytes from each "
      "level of memory{}",
      cores.size() > 1      ? "the cores of a run"
      : *cores.begin() == 1 ? "one core"
                            : fmt::format("{} cores", *cores.begin()),
      without.empty()
          ? ""
          : fmt::format("; run {} did not calibrate, and has none", fmt::join(without, ", ")));
}

std::string how_text(const Runs& runs, const std::vector<ModelRuns>& machines) {
  return fmt::format(
      "A mark is a step at its median time, at the arithmetic per byte of the fewest bytes that it "
      "must move; larger batches stand further to the right. {}. A step under a line is not shown "
      "to be bound by it.",
      lines_text(runs, machines));
}

void add_machine(FigureGroup& group, const Runs& runs, const ModelRuns& model,
                 const ModelRuns& machine) {
  const std::vector<Curves> all =
      curves_of(runs, machine, [](const ArmRecord& arm) -> std::optional<Mark> {
        const std::optional<RooflinePoint> point = roofline_point(arm);
        if (!point) return std::nullopt;
        return Mark{point->intensity, point->gflops, {}, {}};
      });
  for (const Curves& curves : all) {
    if (curves.empty()) continue;
    const std::string run = run_name(runs, machine.runs.front());
    Figure figure = make_figure(
        group, model.joined ? curves.backend : fmt::format("{}, run {}", curves.backend, run));
    figure.x = {.label = "arithmetic per byte, flop/byte",
                .logarithmic = true,
                .names = {},
                .least = {},
                .most = {}};
    figure.y = {.label = "GFLOP/s", .logarithmic = true, .names = {}, .least = {}, .most = {}};
    figure.series = curves.series;
    figure.alt = fmt::format(
        "Arithmetic per second against arithmetic per byte on {}, both axes logarithmic. {}.",
        figure.title, ends_text(figure));
    add_ceilings(figure, ceilings_of(runs, machine), threads_of(runs, machine));
    group.figures.push_back(std::move(figure));
  }
}

}  // namespace

FigureGroup roofline_figures(const Runs& runs, const ModelRuns& model) {
  const std::vector<ModelRuns> machines = machines_of(runs, model);
  FigureGroup group = make_group(runs, model, "rooflines", "Steps below the machine's limits",
                                 how_text(runs, machines));
  for (const ModelRuns& machine : machines) add_machine(group, runs, model, machine);
  return group;
}

}  // namespace stepscope
