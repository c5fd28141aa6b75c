// What a step costs beside its time: once, in memory; and what the machine can do at best.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/report/arms.h"
#include "bench/report/numbers.h"
#include "bench/report/table.h"
#include "bench/report/tables.h"
#include "bench/report/wrap.h"

namespace stepscope {
namespace {

constexpr auto kLeft = Table::Align::left;

using OneOffTime = std::optional<std::int64_t> OneOffRecord::*;

// Median over the processes; "-" where the arm has no such phase.
std::string one_off_cell(const ArmRecord& arm, OneOffTime phase) {
  std::vector<std::int64_t> times;
  for (const OneOffRecord& process : arm.one_off) {
    if (process.*phase) times.push_back(*(process.*phase));
  }
  if (times.empty()) return "-";
  std::sort(times.begin(), times.end());
  const std::size_t half = times.size() / 2;
  const double upper = static_cast<double>(times[half]);
  return time_text(times.size() % 2 == 1 ? upper
                                         : (static_cast<double>(times[half - 1]) + upper) / 2.0);
}

std::string bytes_cell(std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::vector<std::string> window_row(const ArmRecord& arm, const char* name,
                                    const MemoryWindow& window) {
  return {fmt::format("{}/{}", arm.mode_requested, arm.fusion),
          name,
          bytes_cell(window.allocated),
          bytes_cell(window.reserved),
          bytes_cell(window.peak_allocated),
          bytes_cell(window.peak_reserved)};
}

bool has_memory(const ArmRecord& arm) {
  return arm.memory.first.peak_reserved > 0 || arm.memory.steady.peak_reserved > 0;
}

std::string owners_text(const ArmRecord& arm) {
  std::vector<std::string> owners;
  for (const MemoryOwner& owner : arm.memory.owners) {
    owners.push_back(
        fmt::format("{} {} ({})", owner.owner, bytes_cell(owner.reserved), owner.layer));
  }
  if (owners.empty()) return {};
  return wrapped(
      fmt::format("  {}/{}: {}\n", arm.mode_requested, arm.fusion, fmt::join(owners, ", ")));
}

std::string process_text(const MemoryRecord& memory) {
  const auto cell = [](const std::optional<std::uint64_t>& bytes) {
    return bytes ? bytes_cell(*bytes) : kNotMeasured;
  };
  return fmt::format("  the whole process, by the system: resident {}, at most {}\n",
                     cell(memory.process_rss), cell(memory.process_peak_rss));
}

std::string memory_of(const Group& group) {
  Table table({{"arm", kLeft},
               {"when", kLeft},
               {"allocated"},
               {"reserved"},
               {"peak allocated"},
               {"peak reserved"}});
  std::string owners;
  const ArmRecord* any = nullptr;
  for (const ArmRecord* arm : group) {
    if (!has_memory(*arm)) continue;
    any = arm;
    table.add(window_row(*arm, "first step", arm->memory.first));
    table.add(window_row(*arm, "after warm-up", arm->memory.steady));
    owners += owners_text(*arm);
  }
  if (any == nullptr) return {};
  return fmt::format("memory of {}, batch {}:\n{}by owner:\n{}{}", any->backend, any->batch,
                     table.text(), owners, process_text(any->memory));
}

// Each a quantity of its own; none follows from another.
struct Quantity {
  const char* name;
  std::optional<double> UtilizationRecord::*value;
  bool is_time;  // in microseconds; else a share
};
constexpr Quantity kQuantities[] = {
    {"arithmetic lower bound", &UtilizationRecord::arith_lower_bound_us, true},
    {"bandwidth lower bound", &UtilizationRecord::bandwidth_lower_bound_us, true},
    {"kernel-active fraction", &UtilizationRecord::kernel_active_fraction, false},
    {"occupancy", &UtilizationRecord::occupancy, false},
    {"active SM fraction", &UtilizationRecord::active_sm_fraction, false}};

std::string quantity_cell(const ArmRecord& arm, const Quantity& quantity) {
  const std::optional<double>& value = arm.utilization.*quantity.value;
  if (!value) return kNotMeasured;
  return quantity.is_time ? time_text(*value * 1000.0) : fmt::format("{:.1f} %", 100.0 * *value);
}

std::string quantities_of(const std::vector<const ArmRecord*>& arms,
                          const std::vector<const Quantity*>& quantities) {
  std::vector<Table::Column> columns{{"backend", kLeft}, {"batch"}, {"arm", kLeft}};
  for (const Quantity* quantity : quantities) columns.push_back({quantity->name});
  Table table(columns);
  for (const ArmRecord* arm : arms) {
    std::vector<std::string> row{arm->backend, fmt::to_string(arm->batch),
                                 fmt::format("{}/{}", arm->mode_requested, arm->fusion)};
    for (const Quantity* quantity : quantities) row.push_back(quantity_cell(*arm, *quantity));
    table.add(std::move(row));
  }
  return fmt::format(
      "bounds and use of the machine; a lower bound of a step is no utilization:\n{}",
      table.text());
}

std::string calibration_value(const CalibrationRow& row) {
  return row.value ? fmt::format("{} {}", digits_text(*row.value), row.unit) : kNotMeasured;
}

}  // namespace

std::string one_off_table(const Record& record) {
  Table table({{"backend", kLeft},
               {"batch"},
               {"arm", kLeft},
               {"init"},
               {"compile"},
               {"capture"},
               {"instantiate"},
               {"upload"},
               {"first step"},
               {"warm-up"},
               {"compiled later"}});
  bool any = false;
  for (const auto& [key, group] : groups_of(record)) {
    for (const ArmRecord* arm : group) {
      if (arm->one_off.empty()) continue;
      any = true;
      std::int64_t later = 0;
      for (const OneOffRecord& process : arm->one_off) later += process.compilations_in_steady;
      std::vector<std::string> row{arm->backend, fmt::to_string(arm->batch),
                                   fmt::format("{}/{}", arm->mode_requested, arm->fusion)};
      for (const OneOffTime phase :
           {&OneOffRecord::init_ns, &OneOffRecord::compile_ns, &OneOffRecord::capture_ns,
            &OneOffRecord::instantiate_ns, &OneOffRecord::upload_ns, &OneOffRecord::first_step_ns,
            &OneOffRecord::warmup_ns}) {
        row.push_back(one_off_cell(*arm, phase));
      }
      row.push_back(fmt::to_string(later));
      table.add(std::move(row));
    }
  }
  constexpr const char* kTitle = "paid once, medians over the processes; -: no such phase here";
  return any ? fmt::format("{}:\n{}", kTitle, table.text()) : "";
}

std::string memory_table(const Record& record) {
  std::string text;
  for (const Group& group : largest_groups_of(record)) {
    const std::string block = memory_of(group);
    if (!block.empty()) text += fmt::format("{}{}", text.empty() ? "" : "\n", block);
  }
  return text;
}

std::string utilization_table(const Record& record) {
  std::vector<const ArmRecord*> arms;
  std::string reason;
  for (const auto& [key, group] : groups_of(record)) {
    for (const ArmRecord* arm : group) {
      if (!is_measured(*arm)) continue;
      arms.push_back(arm);
      if (reason.empty() && arm->utilization.reason != kNotMeasured) {
        reason = arm->utilization.reason;
      }
    }
  }
  if (arms.empty()) return {};
  std::vector<const Quantity*> known;
  std::vector<std::string> unknown;
  for (const Quantity& quantity : kQuantities) {
    const bool any = std::any_of(arms.begin(), arms.end(), [&](const ArmRecord* arm) {
      return (arm->utilization.*quantity.value).has_value();
    });
    if (any) {
      known.push_back(&quantity);
    } else {
      unknown.emplace_back(quantity.name);
    }
  }
  std::string text;
  if (!known.empty()) text = quantities_of(arms, known);
  if (unknown.empty()) return text;
  return text + wrapped(fmt::format("{}: {}{}\n", fmt::join(unknown, ", "), kNotMeasured,
                                    reason.empty() ? "" : fmt::format(" ({})", reason)));
}

std::string calibration_table(const std::vector<CalibrationRow>& rows) {
  if (rows.empty()) return {};
  Table table({{"calibration", kLeft}, {"median"}, {"quartiles"}, {"", kLeft}});
  for (const CalibrationRow& row : rows) {
    table.add({row.name, calibration_value(row),
               row.low && row.high
                   ? fmt::format("{} .. {}", digits_text(*row.low), digits_text(*row.high))
                   : "",
               row.value ? row.note : row.reason});
  }
  return fmt::format("what the instrument and the machine cost; nothing is subtracted:\n{}",
                     table.text());
}

}  // namespace stepscope
