// The roofline: steps between what the core computes and what its memory moves.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

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

// The first run of the model that was calibrated for it.
Ceilings ceilings_of(const Runs& runs, const ModelRuns& model) {
  for (const std::size_t run : model.runs) {
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

int threads_of(const Runs& runs, const ModelRuns& model) {
  int most = 1;
  for (const std::size_t run : model.runs) {
    for (const ArmRecord& arm : runs[run].arms) most = std::max(most, arm.threads);
  }
  return most;
}

std::string how_text(const Ceilings& ceilings, int threads) {
  const std::string lines =
      ceilings.gflops || !ceilings.bandwidths.empty()
          ? fmt::format(
                "The lines are what the calibration found {} can do at best: arithmetic, "
                "and bytes from each level of memory",
                threads > 1 ? fmt::format("{} cores", threads) : "one core")
          : fmt::format("Ceilings: {}, the run did not calibrate the machine", kNotMeasured);
  return fmt::format(
      "A mark is a step at its median time, at the arithmetic per byte of the fewest bytes that it "
      "must move; larger batches stand further to the right. {}. A step under a line is not shown "
      "to be bound by it.",
      lines);
}

}  // namespace

FigureGroup roofline_figures(const Runs& runs, const ModelRuns& model) {
  const Ceilings ceilings = ceilings_of(runs, model);
  const int threads = threads_of(runs, model);
  FigureGroup group = make_group(runs, model, "rooflines", "Steps below the machine's limits",
                                 how_text(ceilings, threads));
  const std::vector<Curves> all =
      curves_of(runs, model, [](const ArmRecord& arm) -> std::optional<Mark> {
        const std::optional<RooflinePoint> point = roofline_point(arm);
        if (!point) return std::nullopt;
        return Mark{point->intensity, point->gflops, {}, {}};
      });
  for (const Curves& curves : all) {
    if (curves.empty()) continue;
    Figure figure = make_figure(group, curves.backend);
    figure.x = {.label = "arithmetic per byte, flop/byte",
                .logarithmic = true,
                .names = {},
                .least = {},
                .most = {}};
    figure.y = {.label = "GFLOP/s", .logarithmic = true, .names = {}, .least = {}, .most = {}};
    figure.series = curves.series;
    figure.alt = fmt::format(
        "Arithmetic per second against arithmetic per byte on {}, both axes logarithmic. {}.",
        curves.backend, ends_text(figure));
    add_ceilings(figure, ceilings, threads);
    group.figures.push_back(std::move(figure));
  }
  return group;
}

}  // namespace stepscope
