// A record from top to bottom.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/text.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "bench/report/arms.h"
#include "bench/report/numbers.h"
#include "bench/report/sentences.h"
#include "bench/report/tables.h"
#include "bench/report/wrap.h"

namespace stepscope {
namespace {

std::string status_text(const Record& record) {
  if (record.status == "complete") return {};
  // The sentences say why; a reason may name many controls.
  if (is_void(record)) return fmt::format("status: {}: why stands at the end\n", record.status);
  const std::string why =
      record.status_reason.empty() ? "" : fmt::format(": {}", record.status_reason);
  return fmt::format("status: {}{}\n", record.status, why);
}

std::string failure_text(const GateRecord& gate) {
  return fmt::format(
      "  UNEQUAL WORK {} the timing, process {}: {} batch {}, {}/{} against {}/{} "
      "({}): {}\n",
      gate.when, gate.process, gate.backend, gate.batch, gate.mode, gate.fusion, gate.baseline_mode,
      gate.baseline_fusion, gate.criterion, gate.detail);
}

std::string gate_text(const Record& record) {
  if (record.gates.empty()) return "equal work: nothing to compare\n";
  std::map<std::string, std::pair<std::size_t, std::size_t>> counts;  // when -> passed, all
  std::string failures;
  std::set<std::string> criteria;
  for (const GateRecord& gate : record.gates) {
    auto& [passed, all] = counts[gate.when];
    ++all;
    if (gate.passed) {
      ++passed;
      criteria.insert(gate.criterion);
    } else {
      failures += failure_text(gate);
    }
  }
  std::vector<std::string> parts;
  for (const std::string when : {"before", "after"}) {
    const auto [passed, all] = counts[when];
    if (all > 0)
      parts.push_back(fmt::format("{} of {} gates passed {} the timing", passed, all, when));
  }
  return fmt::format("equal work: {}{}\n{}", fmt::join(parts, ", "),
                     criteria.empty() ? "" : fmt::format("\n  by: {}", fmt::join(criteria, "; ")),
                     failures);
}

// Blocks that do not count, by cause without its numbers: they stay in the record.
std::string voids_text(const Record& record) {
  std::map<std::string, std::int64_t> causes;
  std::int64_t blocks = 0;
  std::int64_t voided = 0;
  for (const PairRecord& pair : record.pairs) {
    for (const ProcessBlocks& process : pair.processes) {
      for (const TimedBlock& block : process.blocks) {
        ++blocks;
        if (block.void_cause.empty()) continue;
        ++voided;
        ++causes[block.void_cause.substr(0, block.void_cause.find(':'))];
      }
    }
  }
  if (blocks == 0) return {};
  std::vector<std::string> parts;
  for (const auto& [cause, count] : causes) parts.push_back(fmt::format("{}: {}", cause, count));
  return fmt::format("blocks voided, and kept in the record: {} of {}{}\n", voided, blocks,
                     parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, "; ")));
}

std::string flags_text(const Record& record) {
  std::string text;
  for (const ArmRecord& arm : record.arms) {
    for (const std::string& flag : arm.flags) text += fmt::format("flag: {}: {}\n", arm.name, flag);
  }
  for (const PairRecord& pair : record.pairs) {
    for (const RatioRecord& ratio : pair.ratios) {
      for (const std::string& flag : ratio.flags) {
        text += fmt::format("flag: {} over {}: {}\n", pair.of, pair.base, flag);
      }
    }
  }
  return text;
}

// Why pairs have no verdict. What voids a run says nothing of one pair: it is not said here.
std::string reasons_text(const Record& record) {
  if (is_void(record)) return {};
  std::string text;
  std::set<std::string> voids;
  for (const PairView& view : pairs_of(record)) {
    if (view.pair->kind != "arm") continue;
    for (const RatioRecord& ratio : view.pair->ratios) {
      if (ratio.verdict_reason.empty() || !ratio.time_ratio) continue;
      if (ratio.verdict == "void") voids.insert(ratio.verdict_reason);
      if (ratio.verdict != "UNDECIDED") continue;
      text += fmt::format("UNDECIDED: {} over {} at batch {}: {}\n", label_of(record, *view.of),
                          label_of(record, *view.base), view.of->batch, ratio.verdict_reason);
    }
  }
  for (const std::string& reason : voids) text += fmt::format("void: {}\n", reason);
  return text;
}

// Quantities that only a trace of a device gives.
std::string untraced_text(const Record& record) {
  for (const ArmRecord& arm : record.arms) {
    if (is_measured(arm)) {
      return fmt::format("queue delay, device busy time, idle gaps: {} (no trace was taken)\n",
                         kNotMeasured);
    }
  }
  return {};
}

}  // namespace

std::string schedule_text(const ScheduleRecord& schedule) {
  const bool over = schedule.budget_s > 0.0 && schedule.expected_s > schedule.budget_s;
  const char* const claim =
      schedule.claim == "published" ? "an answer fit to publish (10 processes or more)"
      : schedule.claim == "working" ? "a working answer (5 processes or more)"
                                    : "no verdict: exploratory (fewer than 5 processes)";
  return wrapped(fmt::format(
      "schedule: {} {} of each backend, {} blocks of each pair in each (ABBA or BAAB, seed {}), "
      "slots of {:g} ms or more\n"
      "takes about {:.0f} s of {:.0f} s; affords {}\n{}",
      schedule.processes, schedule.processes == 1 ? "process" : "processes", schedule.blocks,
      schedule.seed, schedule.slot_ms, schedule.expected_s, schedule.budget_s, claim,
      over ? "MORE THAN THE BUDGET: take fewer arms or batches, or a longer --budget\n" : ""));
}

std::string compare_text(const Record& record) {
  std::string head =
      fmt::format("{}, {} at {}, data: {}, seed {}\n", record.work.model, record.work.optimizer,
                  record.work.rate, record.work.data, record.work.seed);
  head += status_text(record);
  // Of several processes it was told before the first timing.
  if (record.schedule && record.schedule->processes <= 1) head += schedule_text(*record.schedule);
  std::string text = wrapped(head + gate_text(record));
  const auto add = [&](const std::string& block) {
    if (!block.empty()) text += fmt::format("\n{}", block);
  };
  add(verdict_table(record) +
      wrapped(reasons_text(record) + voids_text(record) + flags_text(record)));
  add(control_table(record));
  add(baseline_table(record.baseline));
  for (const auto& table : {latency_table, throughput_table, dispatch_table, submission_table}) {
    add(table(record));
  }
  add(untraced_text(record));
  for (const auto& table : {counts_table, phases_table, passes_table, ablation_table, one_off_table,
                            break_even_table, memory_table, utilization_table}) {
    add(table(record));
  }
  add(calibration_table(record.calibration));
  std::string notes;
  for (const std::string& note : record.notes) notes += fmt::format("note: {}\n", note);
  add(wrapped(notes));
  std::string summary;
  for (const std::string& line : record.summary.empty() ? sentences(record) : record.summary) {
    summary += fmt::format("{}\n", line);
  }
  add(wrapped(summary));
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
