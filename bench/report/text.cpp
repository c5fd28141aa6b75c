// Tables and sentences from a record.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

#include "bench/report/sentences.h"
#include "bench/report/tables.h"

namespace stepscope {
namespace {

// Three significant digits without exponent.
std::string digits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size >= 100.0 ? 0 : size >= 10.0 ? 1 : 2);
}

template <std::size_t N>
std::string scaled(double value, double step, const std::array<const char*, N>& units) {
  std::size_t unit = 0;
  while (unit + 1 < N && std::abs(value) >= step) {
    value /= step;
    ++unit;
  }
  return fmt::format("{} {}", digits(value), units[unit]);
}

std::string arm_text(const std::string& mode, const std::string& fusion) {
  return fusion == "off" ? mode : fmt::format("{} with fusion {}", mode, fusion);
}

std::string gate_text(const Record& record) {
  std::size_t passed = 0;
  std::string failures;
  std::set<std::string> criteria;
  for (const GateRecord& gate : record.gates) {
    if (gate.passed) {
      ++passed;
      criteria.insert(gate.criterion);
      continue;
    }
    failures += fmt::format("  UNEQUAL WORK: {} batch {}, {} against {} ({}): {}\n", gate.backend,
                            gate.batch, arm_text(gate.mode, gate.fusion),
                            arm_text(gate.baseline_mode, gate.baseline_fusion), gate.criterion,
                            gate.detail);
  }
  if (record.gates.empty()) return "equal work: nothing to compare\n";
  return fmt::format("equal work: {} of {} gates passed ({})\n{}", passed, record.gates.size(),
                     fmt::join(criteria, "; "), failures);
}

}  // namespace

std::string time_text(double ns) { return scaled(ns, 1000.0, std::array{"ns", "us", "ms", "s"}); }

std::string bytes_text(double bytes) {
  return scaled(bytes, 1024.0, std::array{"B", "KiB", "MiB", "GiB"});
}

std::string compare_text(const Record& record) {
  std::string text = fmt::format("{}, {} at {}, data: {}\n", record.work.model,
                                 record.work.optimizer, record.work.rate, record.work.data);
  text += gate_text(record);
  for (const auto& table : {times_table, counts_table, passes_table, ablation_table}) {
    const std::string lines = table(record);
    if (!lines.empty()) text += "\n" + lines;
  }
  text += fmt::format("\n{}", sentences(record));
  for (const std::string& note : record.notes) text += "note: " + note + "\n";
  return text;
}

std::string epoch_header() {
  return fmt::format("{:>5}  {:>9}  {:>9}  {:>8}  {:>9}  {:>9}  {:>9}  {:>9}  {:>10}\n", "epoch",
                     "loss", "val loss", "val acc", "time", "data", "transfer", "step",
                     "validation");
}

std::string epoch_row(const EpochRecord& epoch) {
  const auto time = [](std::int64_t ns) { return time_text(static_cast<double>(ns)); };
  const std::string accuracy =
      epoch.validation_accuracy ? fmt::format("{:.2f}%", 100.0 * *epoch.validation_accuracy) : "-";
  // The sign of a NaN says nothing.
  const auto loss = [](double value) {
    return std::isnan(value) ? std::string("nan") : fmt::format("{:.5f}", value);
  };
  return fmt::format("{:>5}  {:>9}  {:>9}  {:>8}  {:>9}  {:>9}  {:>9}  {:>9}  {:>10}\n",
                     epoch.epoch, loss(epoch.training_loss), loss(epoch.validation_loss), accuracy,
                     time(epoch.wall_ns), time(epoch.data_ns), time(epoch.transfer_ns),
                     time(epoch.step_ns), time(epoch.validation_ns));
}

}  // namespace stepscope
