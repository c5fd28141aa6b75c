// Times of arms, each method in its own table.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/report/arms.h"
#include "bench/report/numbers.h"
#include "bench/report/table.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

constexpr auto kLeft = Table::Align::left;

std::vector<std::string> summary_cells(const TimeSummary& time) {
  if (time.count == 0) return {kNotMeasured, "", "", "", ""};
  return {time_text(time.median_ns),
          fmt::format("{} .. {}", time_text(time.q1_ns), time_text(time.q3_ns)),
          fmt::format("{} .. {}", time_text(time.min_ns), time_text(time.max_ns)),
          fmt::format("{} + {}", time.mild_outliers, time.severe_outliers),
          fmt::to_string(time.count)};
}

// One row per arm: names, the summary, then what `more` adds.
template <class Summary, class More>
std::string times(const Record& record, const char* title, std::vector<Table::Column> columns,
                  Summary&& summary_of, More&& more) {
  std::vector<Table::Column> all{{"backend", kLeft}, {"batch"},     {"arm", kLeft},
                                 {"median"},         {"quartiles"}, {"least .. most"},
                                 {"outliers"},       {"samples"}};
  all.insert(all.end(), columns.begin(), columns.end());
  Table table(all);
  bool any = false;
  for (const auto& [key, group] : groups_of(record)) {
    for (const ArmRecord* arm : group) {
      const TimeSummary summary = summary_of(*arm);
      any = any || summary.count > 0;
      std::vector<std::string> row{arm->backend, fmt::to_string(arm->batch),
                                   fmt::format("{}/{}", arm->mode_requested, arm->fusion)};
      for (std::string& cell : summary_cells(summary)) row.push_back(std::move(cell));
      for (std::string& cell : more(*arm)) row.push_back(std::move(cell));
      table.add(std::move(row));
    }
  }
  return any ? fmt::format("{}:\n{}", title, table.text()) : "";
}

std::vector<std::string> nothing_more(const ArmRecord&) { return {}; }

std::vector<double> per_step(const std::vector<Samples>& lists) {
  std::vector<double> times;
  for (const Samples& list : lists) {
    for (const std::int64_t elapsed : list.elapsed_ns) {
      times.push_back(static_cast<double>(elapsed) / static_cast<double>(list.steps_per_sample));
    }
  }
  return times;
}

// Requires: not empty.
double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

}  // namespace

std::string latency_table(const Record& record) {
  return times(
      record,
      "latency, each step waited for; quartiles of type 7, outliers (mild + severe) are kept",
      {{"input copy"}}, [](const ArmRecord& arm) { return arm.latency_summary; },
      [](const ArmRecord& arm) -> std::vector<std::string> {
        const TimeSummary& copy = arm.input_copy_summary;
        return {copy.count > 0 ? time_text(copy.median_ns) : kNotMeasured};
      });
}

std::string throughput_table(const Record& record) {
  return times(
      record, "throughput, blocks of steps with their input copies, per step", {},
      [](const ArmRecord& arm) { return arm.throughput_summary; }, nothing_more);
}

std::string dispatch_table(const Record& record) {
  return times(
      record, "dispatch alone, the same step with every kernel empty; a time of its own",
      {{"per op"}},
      [](const ArmRecord& arm) { return arm.dispatch_empty_kernels.value_or(TimeSummary{}); },
      [](const ArmRecord& arm) -> std::vector<std::string> {
        if (!arm.dispatch_empty_kernels || arm.counts.ops == 0) return {kNotMeasured};
        return {
            time_text(arm.dispatch_empty_kernels->median_ns / static_cast<double>(arm.counts.ops))};
      });
}

std::string submission_table(const Record& record) {
  Table table({{"backend", kLeft}, {"batch"}, {"arm", kLeft}, {"median"}, {"samples"}});
  bool any = false;
  for (const auto& [key, group] : groups_of(record)) {
    for (const ArmRecord* arm : group) {
      const std::vector<double> times = per_step(arm->submission);
      if (times.empty()) continue;
      any = true;
      table.add({arm->backend, fmt::to_string(arm->batch),
                 fmt::format("{}/{}", arm->mode_requested, arm->fusion),
                 time_text(median_of(times)), fmt::to_string(times.size())});
    }
  }
  constexpr const char* kTitle = "submitted-only, stamped before the work had ended, per step";
  return any ? fmt::format("{}:\n{}", kTitle, table.text()) : "";
}

}  // namespace stepscope
