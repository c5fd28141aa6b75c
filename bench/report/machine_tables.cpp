// What the machine can do at best, how near a step comes, and what it used of the machine.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/record/simulated.h"
#include "bench/report/numbers.h"
#include "bench/report/roofline.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

// Each a quantity of its own; none follows from another.
struct Quantity {
  const char* key;   // of its column
  const char* name;  // in a sentence
  std::optional<double> UtilizationRecord::*value;
  bool is_time;            // in microseconds; else a share
  const char* bound = "";  // what it is a bound by; empty: a device would tell it
};
constexpr Quantity kQuantities[] = {
    {"arith_bound", "arithmetic lower bound", &UtilizationRecord::arith_lower_bound_us, true,
     "arithmetic"},
    {"bandwidth_bound", "bandwidth lower bound", &UtilizationRecord::bandwidth_lower_bound_us, true,
     "bandwidth"},
    {"device_busy", "device busy", &UtilizationRecord::device_busy_us, true},
    {"kernel_active", "kernel-active fraction", &UtilizationRecord::kernel_active_fraction, false},
    {"occupancy", "occupancy", &UtilizationRecord::occupancy, false},
    {"active_sms", "active SM fraction", &UtilizationRecord::active_sm_fraction, false}};

Cell quantity_cell(const ArmRecord& arm, const Quantity& quantity) {
  const std::optional<double>& value = arm.utilization.*quantity.value;
  if (!value) return kNotMeasured;
  return quantity.is_time ? us_cell(value) : percent_cell(value);
}

std::vector<const ArmRecord*> measured_arms(const Record& record) {
  std::vector<const ArmRecord*> arms;
  for (const auto& [key, group] : groups_of(record)) {
    std::copy_if(group.begin(), group.end(), std::back_inserter(arms),
                 [](const ArmRecord* arm) { return is_measured(*arm); });
  }
  return arms;
}

bool is_known(const Quantity& quantity, const Runs& runs) {
  for (const Record& record : runs) {
    for (const ArmRecord* arm : measured_arms(record)) {
      if (arm->utilization.*quantity.value) return true;
    }
  }
  return false;
}

// Beside its median time in throughput: a lower bound as a share of it.
std::optional<double> share_of_time(const std::optional<double>& bound_us, const ArmRecord& arm) {
  if (!bound_us || arm.throughput_summary.median_ns <= 0.0) return std::nullopt;
  return 1000.0 * *bound_us / arm.throughput_summary.median_ns;
}

constexpr std::string_view kNoBound = "; no bound by ";  // as the bounds of arms are told

// Why the arm has no such quantity: that of a bound stands behind that of the others. Empty: not
// told.
std::string reason_of(const ArmRecord& arm, const Quantity& quantity) {
  const std::string& reason = arm.utilization.reason;
  if (*quantity.bound == '\0') {
    return reason == kNotMeasured ? "" : reason.substr(0, reason.find(kNoBound));
  }
  const std::string told = fmt::format("{}{}: ", kNoBound, quantity.bound);
  const std::size_t at = reason.find(told);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + told.size();
  return reason.substr(begin, reason.find(kNoBound, begin) - begin);
}

std::vector<std::string> measured_backends(const Record& record) {
  std::vector<std::string> names;
  for (const ArmRecord* arm : measured_arms(record)) {
    if (std::find(names.begin(), names.end(), arm->backend) == names.end()) {
      names.push_back(arm->backend);
    }
  }
  return names;
}

// Why a bound is missing: for each backend, whose reasons are no other's, of the first arm that
// says so, and of how many more.
std::vector<std::string> missing_bound(const Record& record, const Quantity& bound) {
  std::vector<std::string> reasons;
  for (const std::string& backend : measured_backends(record)) {
    std::string first;
    std::size_t more = 0;
    for (const ArmRecord* arm : measured_arms(record)) {
      const std::string reason = arm->backend == backend ? reason_of(*arm, bound) : "";
      if (reason.empty()) continue;
      if (!first.empty()) {
        ++more;
      } else {
        first = fmt::format("{}: {}", arm->name, reason);
      }
    }
    if (first.empty()) continue;
    reasons.push_back(more == 0 ? first : fmt::format("{}; and {} more arms", first, more));
  }
  return reasons;
}

std::string reason_of_backend(const Record& record, const std::string& backend,
                              const Quantity& quantity) {
  for (const ArmRecord* arm : measured_arms(record)) {
    const std::string reason = arm->backend == backend ? reason_of(*arm, quantity) : "";
    if (!reason.empty()) return reason;
  }
  return {};
}

// Of a run, why none of its arms has it: each reason once, with those that it is of where not all
// say the same. At least one line, which is empty where nobody says why.
std::vector<std::string> missing(const Record& record, const Quantity& quantity) {
  std::vector<std::string> lines;
  if (*quantity.bound != '\0') {
    lines = missing_bound(record, quantity);
  } else {
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // and of whom
    for (const std::string& backend : measured_backends(record)) {
      const std::string why = reason_of_backend(record, backend, quantity);
      const auto at = std::find_if(reasons.begin(), reasons.end(),
                                   [&](const auto& each) { return each.first == why; });
      if (at == reasons.end()) {
        reasons.push_back({why, {labelled_in(record, backend)}});
      } else {
        at->second.push_back(labelled_in(record, backend));
      }
    }
    for (const auto& [why, names] : reasons) {
      if (reasons.size() == 1) return {why};
      if (!why.empty()) lines.push_back(fmt::format("{}: {}", fmt::join(names, ", "), why));
    }
  }
  if (lines.empty()) lines.emplace_back();
  return lines;
}

// As the record has it. One that was made before bounds were kept says "not measured": there the
// peak of its calibration tells, where no step was faster.
std::optional<double> share_of_peak(const ArmRecord& arm, const Ceilings& ceilings,
                                    const RooflinePoint& point) {
  const std::optional<double>& bound = arm.utilization.arith_lower_bound_us;
  if (bound || arm.utilization.reason != kNotMeasured) return share_of_time(bound, arm);
  if (!ceilings.gflops || arm.throughput_summary.min_ns <= 0.0) return std::nullopt;
  const double peak = *ceilings.gflops * arm.threads;
  if (arm.flops / arm.throughput_summary.min_ns > peak) return std::nullopt;
  return point.gflops / peak;
}

Cell digits_cell(double value) { return {digits_text(value), value}; }

}  // namespace

Table roofline_table(const Runs& runs) {
  RunTable table(runs, "limits",
                 "how near steps come to the machine's limits, at their median time",
                 {"backend", "batch", "arm", "throughput", "flops", "fewest_bytes", "intensity",
                  "rate", "of_peak", "bytes_rate", "of_bandwidth"});
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const Ceilings ceilings = ceilings_of(runs[run]);
    for (const ArmRecord* arm : measured_arms(runs[run])) {
      const std::optional<RooflinePoint> point = roofline_point(*arm);
      if (!point) continue;
      std::vector<Cell> row = arm_cells(*arm);
      row.push_back(time_cell(arm->throughput_summary.median_ns));
      row.push_back({fmt::format("{} Mflop", digits_text(arm->flops / 1e6)), arm->flops});
      row.push_back(bytes_cell(arm->fewest_bytes));
      row.push_back(digits_cell(point->intensity));
      row.push_back(digits_cell(point->gflops));
      row.push_back(percent_cell(share_of_peak(*arm, ceilings, *point)));
      row.push_back(digits_cell(point->gb_per_s));
      row.push_back(percent_cell(share_of_time(arm->utilization.bandwidth_lower_bound_us, *arm)));
      table.add(run, std::move(row));
    }
  }
  return table.take();
}

Table utilization_table(const Runs& runs) {
  std::vector<const Quantity*> known;
  std::vector<std::string_view> keys{"backend", "batch", "arm"};
  for (const Quantity& quantity : kQuantities) {
    if (!is_known(quantity, runs)) continue;
    known.push_back(&quantity);
    keys.emplace_back(quantity.key);
  }
  RunTable table(runs, "utilization",
                 "bounds and use of the machine; a lower bound of a step is no utilization", keys);
  if (known.empty()) return table.take();
  for (std::size_t run = 0; run < runs.size(); ++run) {
    for (const ArmRecord* arm : measured_arms(runs[run])) {
      std::vector<Cell> row = arm_cells(*arm);
      for (const Quantity* quantity : known) row.push_back(quantity_cell(*arm, *quantity));
      table.add(run, std::move(row));
    }
    for (const Quantity* quantity : known) {
      if (*quantity->bound == '\0') continue;
      for (const std::string& why : missing_bound(runs[run], *quantity)) {
        table.note(run, fmt::format("no {}: {}", quantity->name, why));
      }
    }
  }
  return table.take();
}

std::vector<std::string> unused_quantities(const Runs& runs) {
  std::vector<std::string> lines;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (measured_arms(runs[run]).empty()) continue;
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // and of what
    for (const Quantity& quantity : kQuantities) {
      if (is_known(quantity, runs)) continue;
      for (const std::string& why : missing(runs[run], quantity)) {
        const auto at = std::find_if(reasons.begin(), reasons.end(),
                                     [&](const auto& each) { return each.first == why; });
        if (at == reasons.end()) {
          reasons.push_back({why, {quantity.name}});
        } else {
          at->second.emplace_back(quantity.name);
        }
      }
    }
    for (const auto& [why, names] : reasons) {
      lines.push_back(fmt::format(
          "{}{}: {}{}", runs.several() ? fmt::format("run {}: ", run_name(runs, run)) : "",
          fmt::join(names, ", "), kNotMeasured, why.empty() ? "" : fmt::format(" ({})", why)));
    }
  }
  return lines;
}

}  // namespace stepscope
