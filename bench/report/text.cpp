// Tables and sentences from a record.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "bench/report/table.h"

namespace stepscope {
namespace {

constexpr auto kLeft = Table::Align::left;
constexpr auto kRight = Table::Align::right;

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

using Group = std::vector<const ArmRecord*>;

// Arms by backend, then batch, in the order of the record.
std::map<std::pair<std::string, std::int64_t>, Group> groups_of(const Record& record) {
  std::map<std::pair<std::string, std::int64_t>, Group> groups;
  for (const ArmRecord& arm : record.arms) groups[{arm.backend, arm.batch}].push_back(&arm);
  return groups;
}

const ArmRecord* find_mode(const Group& group, std::string_view mode) {
  const auto at = std::find_if(group.begin(), group.end(),
                               [&](const ArmRecord* arm) { return arm->mode_requested == mode; });
  return at == group.end() || (*at)->wall.count == 0 ? nullptr : *at;
}

std::string step_table(const Record& record) {
  Table table({{"backend", kLeft},
               {"batch"},
               {"mode", kLeft},
               {"step, median"},
               {"quartiles", kRight},
               {"vs " + (record.arms.empty() ? "first" : record.arms.front().mode_requested)},
               {"dispatch alone"},
               {"per op"},
               {"submissions"},
               {"calls"},
               {"memory"}});
  for (const auto& [key, group] : groups_of(record)) {
    for (const ArmRecord* arm : group) {
      if (arm->wall.count == 0) {
        table.add({arm->backend, fmt::to_string(arm->batch), arm->mode_requested, "not measured",
                   "", "", "", "", "", "", ""});
        continue;
      }
      const auto& dispatch = arm->dispatch_empty_kernels;
      table.add({arm->backend, fmt::to_string(arm->batch), arm->mode_executed,
                 time_text(arm->wall.median_ns),
                 fmt::format("{} .. {}", time_text(arm->wall.q1_ns), time_text(arm->wall.q3_ns)),
                 fmt::format("{:.3f}", arm->wall.median_ns / group.front()->wall.median_ns),
                 dispatch ? time_text(dispatch->median_ns) : "not measured",
                 dispatch ? time_text(dispatch->median_ns / static_cast<double>(arm->counts.ops))
                          : "not measured",
                 fmt::to_string(arm->counts.submissions), fmt::to_string(arm->counts.calls),
                 bytes_text(static_cast<double>(arm->reserved_bytes))});
    }
  }
  return table.text();
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
                            gate.batch, gate.mode, gate.baseline_mode, gate.criterion, gate.detail);
  }
  if (record.gates.empty()) return "equal work: nothing to compare\n";
  return fmt::format("equal work: {} of {} gates passed ({})\n{}", passed, record.gates.size(),
                     fmt::join(criteria, "; "), failures);
}

std::string sentence_of(const Group& group) {
  const ArmRecord* eager = find_mode(group, "eager");
  const ArmRecord* graph = find_mode(group, "graph");
  if (eager == nullptr || graph == nullptr || !eager->dispatch_empty_kernels) return {};
  const double dispatch = eager->dispatch_empty_kernels->median_ns;
  const double ratio = graph->wall.median_ns / eager->wall.median_ns;
  const bool overlap =
      graph->wall.q3_ns >= eager->wall.q1_ns && graph->wall.q1_ns <= eager->wall.q3_ns;
  return fmt::format(
      "At batch {} on {}, eager dispatch alone takes {} a step ({} per op), against a step of {} "
      "({:.1f} %); graph takes {:.3f} of eager's median{}.\n",
      eager->batch, eager->backend, time_text(dispatch),
      time_text(dispatch / static_cast<double>(eager->counts.ops)),
      time_text(eager->wall.median_ns), 100.0 * dispatch / eager->wall.median_ns, ratio,
      overlap ? ", and their quartiles overlap" : "");
}

// The smallest and the largest batch of each backend say most; four sentences at most.
std::string sentences(const Record& record) {
  std::map<std::string, std::vector<const Group*>> by_backend;
  const auto groups = groups_of(record);
  for (const auto& [key, group] : groups) by_backend[key.first].push_back(&group);
  std::string text;
  std::size_t count = 0;
  for (const auto& [backend, list] : by_backend) {
    for (const Group* group : {list.front(), list.back()}) {
      if (count == 4 || (group == list.back() && list.size() == 1 && text.size() > 0)) break;
      const std::string sentence = sentence_of(*group);
      if (sentence.empty()) continue;
      text += sentence;
      ++count;
    }
  }
  return text + "One process is no proof: ratios are exploratory, without interval or verdict.\n";
}

}  // namespace

std::string time_text(double ns) { return scaled(ns, 1000.0, std::array{"ns", "us", "ms", "s"}); }

std::string bytes_text(double bytes) {
  return scaled(bytes, 1024.0, std::array{"B", "KiB", "MiB", "GiB"});
}

std::string compare_text(const Record& record) {
  std::string text = fmt::format("{}, {} at {}, data: {}\n", record.work.model,
                                 record.work.optimizer, record.work.rate, record.work.data);
  text += gate_text(record) + "\n" + step_table(record) + "\n" + sentences(record);
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
  return fmt::format("{:>5}  {:>9.5f}  {:>9.5f}  {:>7.2f}%  {:>9}  {:>9}  {:>9}  {:>9}  {:>10}\n",
                     epoch.epoch, epoch.training_loss, epoch.validation_loss,
                     100.0 * epoch.validation_accuracy, time(epoch.wall_ns), time(epoch.data_ns),
                     time(epoch.transfer_ns), time(epoch.step_ns), time(epoch.validation_ns));
}

}  // namespace stepscope
