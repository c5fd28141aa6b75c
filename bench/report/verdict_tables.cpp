// What pairs say: ratios with their intervals and verdicts, and what the instrument said of itself.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "bench/report/arms.h"
#include "bench/report/numbers.h"
#include "bench/report/table.h"
#include "bench/report/tables.h"
#include "bench/report/wrap.h"

namespace stepscope {
namespace {

constexpr auto kLeft = Table::Align::left;
constexpr const char* kVoidBreakEven = "not known: the run is void";  // as the analysis writes it

// Near and far are rows of their own; one thread has no distance.
std::string stratum_text(const RatioRecord& ratio) {
  return ratio.stratum == "single" ? "" : ratio.stratum;
}

// The interval; without one the spread of the blocks, which is none.
std::string interval_cell(const RatioRecord& ratio) {
  if (ratio.time_ratio->low) return range_text(*ratio.time_ratio);
  if (!ratio.q1 || !ratio.q3) return "no interval";
  return fmt::format("spread {} .. {}", ratio_text(*ratio.q1), ratio_text(*ratio.q3));
}

std::string p_cell(const RatioRecord& ratio) {
  const std::optional<double>& p = ratio.p_holm ? ratio.p_holm : ratio.p;
  if (!p) return "-";
  return *p < 0.001 ? "<0.001" : fmt::format("{:.3f}", *p);
}

// `quotable`: not in a void run, whose record alone keeps the numbers.
std::vector<std::string> ratio_cells(const RatioRecord& ratio, bool quotable) {
  if (!ratio.time_ratio) return {kNotMeasured, "", "", "", "", "", ratio.reason};
  if (!quotable) {
    return {"-", "-", "-", us_text(ratio.base_us), us_text(ratio.of_us), "-", ratio.verdict};
  }
  return {ratio_text(ratio.time_ratio->estimate),
          interval_cell(ratio),
          ratio.ratio_of_medians ? ratio_text(*ratio.ratio_of_medians) : kNotMeasured,
          us_text(ratio.base_us),
          us_text(ratio.of_us),
          p_cell(ratio),
          ratio.verdict};
}

// The column of strata only where there is more than one.
Table pairs_table(bool strata) {
  std::vector<Table::Column> columns{{"batch"}, {"arm", kLeft}, {"base", kLeft}};
  if (strata) columns.push_back({"cores", kLeft});
  for (const char* title :
       {"time ratio", "95 % interval", "of medians", "base", "arm", "p (Holm)"}) {
    columns.push_back({title});
  }
  columns.push_back({"verdict", kLeft});
  return Table(columns);
}

bool has_strata(const std::vector<PairView>& pairs) {
  for (const PairView& view : pairs) {
    for (const RatioRecord& ratio : view.pair->ratios) {
      if (!stratum_text(ratio).empty()) return true;
    }
  }
  return false;
}

// The pairs for which `wanted` holds; empty without any.
template <class Wanted>
std::string pairs_text(const Record& record, const char* title, Wanted&& wanted) {
  const std::vector<PairView> pairs = pairs_of(record);
  const bool strata = has_strata(pairs);
  Table table = pairs_table(strata);
  bool any = false;
  for (const PairView& view : pairs) {
    if (!wanted(view)) continue;
    for (const RatioRecord& ratio : view.pair->ratios) {
      any = true;
      std::vector<std::string> row{fmt::to_string(view.of->batch), label_of(record, *view.of),
                                   label_of(record, *view.base)};
      if (view.pair->kind != "arm") row[1] += fmt::format(" ({})", view.pair->kind);
      if (strata) row.push_back(stratum_text(ratio));
      const bool quotable = !is_void(record) || view.pair->kind != "arm";
      for (std::string& cell : ratio_cells(ratio, quotable)) row.push_back(std::move(cell));
      table.add(std::move(row));
    }
  }
  return any ? fmt::format("{}:\n{}", title, table.text()) : "";
}

}  // namespace

std::string verdict_table(const Record& record) {
  const std::string within = pairs_text(
      record, "time of the arm over time of its base, per step; below 1 the arm is faster",
      [](const PairView& view) { return view.pair->kind == "arm" && !view.crosses_backends(); });
  const std::string between = pairs_text(
      record, "between backends, process against process",
      [](const PairView& view) { return view.pair->kind == "arm" && view.crosses_backends(); });
  return between.empty() ? within
                         : fmt::format("{}{}{}", within, within.empty() ? "" : "\n", between);
}

std::string control_table(const Record& record) {
  return pairs_text(record, "the instrument on arms whose answer is known (the base once more: 1)",
                    [](const PairView& view) { return view.pair->kind != "arm"; });
}

std::string break_even_table(const Record& record) {
  std::vector<PairView> pairs;
  std::set<std::string> texts;
  for (const PairView& view : pairs_of(record)) {
    if (!view.pair->break_even || view.pair->kind != "arm") continue;
    pairs.push_back(view);
    texts.insert(view.pair->break_even->text);
  }
  if (pairs.empty()) return {};
  // What no pair can know is said once.
  const bool same = texts.size() == 1 && texts.begin()->starts_with("not known");
  const std::string common = is_void(record) ? kVoidBreakEven : same ? *texts.begin() : "";
  Table table({{"batch"},
               {"arm", kLeft},
               {"base", kLeft},
               {"extra one-off cost"},
               {"paid back after", kLeft}});
  for (const PairView& view : pairs) {
    const BreakEven& even = *view.pair->break_even;
    table.add({fmt::to_string(view.of->batch), label_of(record, *view.of),
               label_of(record, *view.base),
               even.extra_us ? time_text(*even.extra_us * 1000.0) : kNotMeasured,
               even.text == common ? "-" : even.text});
  }
  return wrapped(fmt::format("when an arm's one-off costs are paid back{}:\n",
                             common.empty() ? "" : fmt::format(", {}", common))) +
         table.text();
}

std::string baseline_table(const std::vector<BaselineRecord>& rows) {
  if (rows.empty()) return {};
  Table table({{"arm", kLeft},
               {"then"},
               {"now"},
               {"change, in sentinels"},
               {"95 % interval"},
               {"verdict", kLeft}});
  for (const BaselineRecord& row : rows) {
    const auto us = [](const std::optional<double>& time) {
      return time ? time_text(*time * 1000.0) : kNotMeasured;
    };
    table.add({row.arm, us(row.then_us), us(row.now_us),
               row.change ? ratio_text(row.change->estimate) : kNotMeasured,
               row.change ? range_text(*row.change) : "",
               row.reason.empty() ? row.verdict : row.reason});
  }
  return fmt::format(
      "against the baseline, each run in units of its own sentinel (no speed-up):\n{}",
      table.text());
}

}  // namespace stepscope
