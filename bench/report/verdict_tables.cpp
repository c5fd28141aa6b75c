// What pairs say: ratios with their intervals and verdicts, and what the instrument said of itself.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/record/simulated.h"
#include "bench/report/numbers.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

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

Cell estimate_cell(const std::optional<Interval>& us) {
  return us_cell(us ? std::optional(us->estimate) : std::nullopt);
}

// A control is judged by a test of 1 and not by the band: it holds, or it is void.
std::string verdict_text(const PairRecord& pair, const RatioRecord& ratio) {
  return pair.kind == "control" && ratio.verdict == "SAME" ? "holds" : ratio.verdict;
}

// `quotable`: else the record alone keeps the numbers.
std::vector<Cell> ratio_cells(const PairRecord& pair, const RatioRecord& ratio, bool quotable) {
  if (!ratio.time_ratio) return {kNotMeasured, "", "", "", "", "", ratio.reason};
  if (!quotable) {
    return {"-", "-", "-", estimate_cell(ratio.base_us), estimate_cell(ratio.of_us), "-", "void"};
  }
  return {ratio_cell(ratio.time_ratio->estimate),
          interval_cell(ratio),
          ratio_cell(ratio.ratio_of_medians),
          estimate_cell(ratio.base_us),
          estimate_cell(ratio.of_us),
          p_cell(ratio),
          verdict_text(pair, ratio)};
}

// A table of pairs, by the keys of the columns that differ between such tables.
struct PairsTable {
  const char* id;
  const char* title;
  std::string_view base_time = "base_time", arm_time = "arm_time", verdict = "verdict";
};

// The column of strata only where there is more than one.
RunTable pairs_table(const Runs& runs, const PairsTable& of, bool strata) {
  std::vector<std::string_view> keys{"batch", "arm", "base"};
  if (strata) keys.emplace_back("cores");
  for (const std::string_view key : {std::string_view("time_ratio"), std::string_view("interval"),
                                     std::string_view("of_medians"), of.base_time, of.arm_time,
                                     std::string_view("p"), of.verdict}) {
    keys.push_back(key);
  }
  return RunTable(runs, of.id, of.title, keys);
}

std::vector<Cell> pair_cells(const Record& record, const PairView& view) {
  std::string of = label_of(record, *view.of);
  if (view.pair->kind != "arm") of += fmt::format(" ({})", view.pair->kind);
  return {batch_cell(view.of->batch), of, label_of(record, *view.base)};
}

// The pairs for which `wanted` holds.
template <class Wanted>
Table pairs_where(const Runs& runs, const PairsTable& of, Wanted&& wanted) {
  const bool strata = has_strata(runs);
  RunTable table = pairs_table(runs, of, strata);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const Record& record = runs[run];
    if (is_simulated(record)) continue;  // its status says why there is none
    for (const PairView& view : pairs_of(record)) {
      if (!wanted(view)) continue;
      for (const RatioRecord& ratio : view.pair->ratios) {
        const bool quotable = is_quotable(record, ratio) || view.pair->kind != "arm";
        std::vector<Cell> row = pair_cells(record, view);
        if (strata) row.emplace_back(cores_of(ratio));
        for (Cell& cell : ratio_cells(*view.pair, ratio, quotable)) row.push_back(std::move(cell));
        table.add(run, std::move(row));
      }
    }
  }
  return table.take();
}

}  // namespace

Table verdict_table(const Runs& runs) {
  return pairs_where(
      runs,
      {.id = "pairs",
       .title = "time of the arm over time of its base, per step; below 1 the arm is faster"},
      [](const PairView& view) { return view.pair->kind == "arm" && !view.crosses_backends(); });
}

Table between_table(const Runs& runs) {
  return pairs_where(
      runs,
      {.id = "pairs-between",
       .title = "between backends, process against process",
       .base_time = "base_list_time",
       .arm_time = "arm_list_time"},
      [](const PairView& view) { return view.pair->kind == "arm" && view.crosses_backends(); });
}

Table control_table(const Runs& runs) {
  return pairs_where(runs,
                     {.id = "controls",
                      .title = "the instrument on arms whose answer is known (the base once more: "
                               "1); the test of 1 is shared among the controls of a run",
                      .verdict = "control_verdict"},
                     [](const PairView& view) { return view.pair->kind != "arm"; });
}

Table baseline_table(const Runs& runs) {
  RunTable table(runs, "baseline",
                 "against the baseline, each run in units of its own sentinel (no speed-up)",
                 {"arm", "then", "now", "change", "interval", "verdict"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const BaselineRecord& row : runs[run].baseline) {
      const bool interval = row.change && row.change->low && row.change->high;
      table.add(run, {row.arm, us_cell(row.then_us), us_cell(row.now_us),
                      row.change ? ratio_cell(row.change->estimate) : Cell(kNotMeasured),
                      interval ? Cell(range_text(*row.change), *row.change->low, *row.change->high)
                               : Cell(),
                      row.reason.empty() ? row.verdict : row.reason});
    }
  }
  return table.take();
}

}  // namespace stepscope
