// What pairs say: ratios with their intervals and verdicts, and what the instrument said of itself.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/report/numbers.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

// Near and far are rows of their own; one thread has no distance.
std::string stratum_text(const RatioRecord& ratio) {
  return ratio.stratum == "single" ? "" : ratio.stratum;
}

// The interval; without one the spread of the blocks, which is none, and so no number of an
// interval either.
Cell interval_cell(const RatioRecord& ratio) {
  const Interval& time = *ratio.time_ratio;
  if (time.low && time.high) return {range_text(time), *time.low, *time.high};
  if (!ratio.q1 || !ratio.q3) return "no interval";
  return fmt::format("spread {} .. {}", ratio_text(*ratio.q1), ratio_text(*ratio.q3));
}

Cell p_cell(const RatioRecord& ratio) {
  const std::optional<double>& p = ratio.p_holm ? ratio.p_holm : ratio.p;
  if (!p) return "-";
  return {*p < 0.001 ? "<0.001" : fmt::format("{:.3f}", *p), *p};
}

Cell us_cell(const std::optional<Interval>& us) {
  return us ? time_cell(us->estimate * 1000.0) : Cell(kNotMeasured);
}

// `quotable`: else the record alone keeps the numbers.
std::vector<Cell> ratio_cells(const RatioRecord& ratio, bool quotable) {
  if (!ratio.time_ratio) return {kNotMeasured, "", "", "", "", "", ratio.reason};
  if (!quotable) {
    return {"-", "-", "-", us_cell(ratio.base_us), us_cell(ratio.of_us), "-", "void"};
  }
  return {ratio_cell(ratio.time_ratio->estimate),
          interval_cell(ratio),
          ratio_cell(ratio.ratio_of_medians),
          us_cell(ratio.base_us),
          us_cell(ratio.of_us),
          p_cell(ratio),
          ratio.verdict};
}

bool has_strata(const Runs& runs) {
  for (const Record& record : runs) {
    for (const PairView& view : pairs_of(record)) {
      for (const RatioRecord& ratio : view.pair->ratios) {
        if (!stratum_text(ratio).empty()) return true;
      }
    }
  }
  return false;
}

// The column of strata only where there is more than one.
RunTable pairs_table(const Runs& runs, const char* id, const char* title, bool strata) {
  if (strata) {
    return RunTable(runs, id, title,
                    {"batch", "arm", "base", "cores", "time_ratio", "interval", "of_medians",
                     "base_time", "arm_time", "p", "verdict"});
  }
  return RunTable(runs, id, title,
                  {"batch", "arm", "base", "time_ratio", "interval", "of_medians", "base_time",
                   "arm_time", "p", "verdict"});
}

std::vector<Cell> pair_cells(const Record& record, const PairView& view) {
  std::string of = label_of(record, *view.of);
  if (view.pair->kind != "arm") of += fmt::format(" ({})", view.pair->kind);
  return {batch_cell(view.of->batch), of, label_of(record, *view.base)};
}

// The pairs for which `wanted` holds.
template <class Wanted>
Table pairs_where(const Runs& runs, const char* id, const char* title, Wanted&& wanted) {
  const bool strata = has_strata(runs);
  RunTable table = pairs_table(runs, id, title, strata);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const Record& record = runs[run];
    for (const PairView& view : pairs_of(record)) {
      if (!wanted(view)) continue;
      for (const RatioRecord& ratio : view.pair->ratios) {
        const bool quotable = is_quotable(record, ratio) || view.pair->kind != "arm";
        std::vector<Cell> row = pair_cells(record, view);
        if (strata) row.emplace_back(stratum_text(ratio));
        for (Cell& cell : ratio_cells(ratio, quotable)) row.push_back(std::move(cell));
        table.add(run, std::move(row));
      }
    }
  }
  return table.take();
}

}  // namespace

Table verdict_table(const Runs& runs) {
  return pairs_where(
      runs, "pairs", "time of the arm over time of its base, per step; below 1 the arm is faster",
      [](const PairView& view) { return view.pair->kind == "arm" && !view.crosses_backends(); });
}

Table between_table(const Runs& runs) {
  return pairs_where(
      runs, "pairs-between", "between backends, process against process",
      [](const PairView& view) { return view.pair->kind == "arm" && view.crosses_backends(); });
}

Table control_table(const Runs& runs) {
  return pairs_where(runs, "controls",
                     "the instrument on arms whose answer is known (the base once more: 1)",
                     [](const PairView& view) { return view.pair->kind != "arm"; });
}

Table baseline_table(const Runs& runs) {
  RunTable table(runs, "baseline",
                 "against the baseline, each run in units of its own sentinel (no speed-up)",
                 {"arm", "then", "now", "change", "interval", "verdict"});
  const auto us = [](const std::optional<double>& time) {
    return time ? time_cell(*time * 1000.0) : Cell(kNotMeasured);
  };
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const BaselineRecord& row : runs[run].baseline) {
      const bool interval = row.change && row.change->low && row.change->high;
      table.add(run, {row.arm, us(row.then_us), us(row.now_us),
                      row.change ? ratio_cell(row.change->estimate) : Cell(kNotMeasured),
                      interval ? Cell(range_text(*row.change), *row.change->low, *row.change->high)
                               : Cell(),
                      row.reason.empty() ? row.verdict : row.reason});
    }
  }
  return table.take();
}

}  // namespace stepscope
