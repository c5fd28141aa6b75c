// Times of arms, each method in its own table.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/report/numbers.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

using Times = RunTable::Times;

constexpr const char* kDispatch = "dispatch";  // ids of tables
constexpr const char* kDevice = "device-time";

Cell two_times(double low, double high) {
  return {fmt::format("{} .. {}", time_text(low), time_text(high)), low, high};
}

std::vector<Cell> summary_cells(const TimeSummary& time) {
  if (time.count == 0) return {kNotMeasured, "", "", "", ""};
  return {time_cell(time.median_ns), two_times(time.q1_ns, time.q3_ns),
          two_times(time.min_ns, time.max_ns),
          Cell(fmt::format("{} + {}", time.mild_outliers, time.severe_outliers),
               static_cast<double>(time.mild_outliers), static_cast<double>(time.severe_outliers)),
          count_cell(time.count)};
}

// One row per arm: names, the summary, then what `more` adds. Empty where no arm has one.
template <class Summary, class More>
Table times(const Runs& runs, RunTable table, Summary&& summary_of, More&& more) {
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const std::vector<ArmRecord>& arms = runs[run].arms;
    const bool any = std::any_of(arms.begin(), arms.end(), [&](const ArmRecord& arm) {
      return arm.role == "arm" && summary_of(arm).count > 0;
    });
    if (!any) continue;
    if (table.id() != kDispatch) {  // that is timed on the null backend
      table.note_simulated(run, table.id() == kDevice ? Times::device : Times::host);
    }
    for (const auto& [key, group] : groups_of(runs[run])) {
      for (const ArmRecord* arm : group) {
        std::vector<Cell> row = arm_cells(*arm);
        for (Cell& cell : summary_cells(summary_of(*arm))) row.push_back(std::move(cell));
        for (Cell& cell : more(*arm)) row.push_back(std::move(cell));
        table.add(run, std::move(row));
      }
    }
  }
  return table.take();
}

std::vector<Cell> nothing_more(const ArmRecord&) { return {}; }

std::optional<double> median_of_summary(const TimeSummary& time) {
  return time.count > 0 ? std::optional(time.median_ns) : std::nullopt;
}

TimeSummary dispatch_of(const ArmRecord& arm) {
  return arm.dispatch_empty_kernels.value_or(TimeSummary{});
}

std::optional<double> dispatch_per_op(const ArmRecord& arm) {
  const std::optional<double> dispatch = median_of_summary(dispatch_of(arm));
  if (!dispatch || arm.counts.ops == 0) return std::nullopt;
  return *dispatch / static_cast<double>(arm.counts.ops);
}

std::vector<double> per_step(const std::vector<Samples>& lists) {
  std::vector<double> times;
  for (const Samples& list : lists) {
    for (const std::int64_t elapsed : list.elapsed_ns) {
      times.push_back(static_cast<double>(elapsed) / static_cast<double>(list.steps_per_sample));
    }
  }
  return times;
}

Cell loss_cell(double loss) {
  // The sign of a NaN says nothing.
  if (std::isnan(loss)) return "nan";
  return {fmt::format("{:.5f}", loss), loss};
}

}  // namespace

Table latency_table(const Runs& runs) {
  RunTable table(
      runs, "latency",
      "latency, each step waited for; quartiles of type 7, outliers (mild + severe) are kept",
      {"backend", "batch", "arm", "median", "quartiles", "least_most", "outliers", "samples",
       "input_copy"});
  return times(
      runs, std::move(table), [](const ArmRecord& arm) { return arm.latency_summary; },
      [](const ArmRecord& arm) -> std::vector<Cell> {
        return {time_cell(median_of_summary(arm.input_copy_summary))};
      });
}

Table throughput_table(const Runs& runs) {
  RunTable table(
      runs, "throughput", "throughput, blocks of steps with their input copies, per step",
      {"backend", "batch", "arm", "median", "quartiles", "least_most", "outliers", "samples"});
  return times(
      runs, std::move(table), [](const ArmRecord& arm) { return arm.throughput_summary; },
      nothing_more);
}

Table dispatch_table(const Runs& runs) {
  RunTable table(runs, kDispatch,
                 "dispatch alone, the same step with every kernel empty; a time of its own",
                 {"backend", "batch", "arm", "median", "quartiles", "least_most", "outliers",
                  "samples", "per_op"});
  return times(runs, std::move(table), dispatch_of, [](const ArmRecord& arm) -> std::vector<Cell> {
    return {time_cell(dispatch_per_op(arm))};
  });
}

Table device_table(const Runs& runs) {
  RunTable table(
      runs, kDevice,
      "device time, blocks of steps by the device's own clock, per step; in no ratio",
      {"backend", "batch", "arm", "median", "quartiles", "least_most", "outliers", "samples"});
  return times(
      runs, std::move(table), [](const ArmRecord& arm) { return arm.device_summary; },
      nothing_more);
}

Table submission_table(const Runs& runs) {
  RunTable table(runs, "submitted-only",
                 "submitted-only, stamped before the work had ended, per step",
                 {"backend", "batch", "arm", "median", "samples"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const auto& [key, group] : groups_of(runs[run])) {
      for (const ArmRecord* arm : group) {
        const std::vector<double> times = per_step(arm->submission);
        if (times.empty()) continue;
        table.note_simulated(run, Times::host);
        std::vector<Cell> row = arm_cells(*arm);
        row.push_back(time_cell(median_of(times)));
        row.push_back(count_cell(static_cast<std::int64_t>(times.size())));
        table.add(run, std::move(row));
      }
    }
  }
  return table.take();
}

Table where_table(const Runs& runs) {
  RunTable table(runs, "where-times",
                 "dispatch, copy and step: each a time of its own, none made from the others",
                 {"backend", "batch", "arm", "dispatch", "per_op", "input_copy", "latency",
                  "throughput", "device_time"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const auto& [key, group] : groups_of(runs[run])) {
      for (const ArmRecord* arm : group) {
        if (!is_measured(*arm) && !arm->dispatch_empty_kernels) continue;
        table.note_simulated(run, Times::both);
        std::vector<Cell> row = arm_cells(*arm);
        for (const std::optional<double>& ns :
             {median_of_summary(dispatch_of(*arm)), dispatch_per_op(*arm),
              median_of_summary(arm->input_copy_summary), median_of_summary(arm->latency_summary),
              median_of_summary(arm->throughput_summary), median_of_summary(arm->device_summary)}) {
          row.push_back(time_cell(ns));
        }
        table.add(run, std::move(row));
      }
    }
  }
  return table.take();
}

Table epochs_table(const Runs& runs) {
  RunTable table(runs, "epochs", "epochs of training; times are sums, parts of the wall time",
                 {"epoch", "loss", "val_loss", "val_accuracy", "wall", "data", "transfer", "step",
                  "readback", "validation"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (!runs[run].epochs.empty()) table.note_simulated(run, Times::host);
    for (const EpochRecord& epoch : runs[run].epochs) {
      const auto& accuracy = epoch.validation_accuracy;
      std::vector<Cell> row{
          count_cell(epoch.epoch), loss_cell(epoch.training_loss), loss_cell(epoch.validation_loss),
          accuracy ? Cell(fmt::format("{:.2f} %", 100.0 * *accuracy), 100.0 * *accuracy)
                   : Cell("-")};
      for (const std::int64_t ns : {epoch.wall_ns, epoch.data_ns, epoch.transfer_ns, epoch.step_ns,
                                    epoch.readback_ns, epoch.validation_ns}) {
        row.push_back(time_cell(static_cast<double>(ns)));
      }
      table.add(run, std::move(row));
    }
  }
  return table.take();
}

}  // namespace stepscope
