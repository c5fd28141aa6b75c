// Statements of a run.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/statements.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/report/arms.h"
#include "bench/report/numbers.h"
#include "bench/report/sentences.h"

namespace stepscope {
namespace {

std::string failure_line(const GateRecord& gate) {
  return fmt::format(
      "UNEQUAL WORK {} the timing, process {}: {} batch {}, {}/{} against {}/{} ({}): {}",
      gate.when, gate.process, gate.backend, gate.batch, gate.mode, gate.fusion, gate.baseline_mode,
      gate.baseline_fusion, gate.criterion, gate.detail);
}

}  // namespace

std::string status_line(const Record& record) {
  return record.status_reason.empty() ? record.status
                                      : fmt::format("{}: {}", record.status, record.status_reason);
}

std::vector<std::string> gate_lines(const Record& record) {
  if (record.gates.empty()) return {"equal work: nothing to compare"};
  std::map<std::string, std::pair<std::size_t, std::size_t>> counts;  // when -> passed, all
  std::vector<std::string> failures;
  std::set<std::string> criteria;
  for (const GateRecord& gate : record.gates) {
    auto& [passed, all] = counts[gate.when];
    ++all;
    if (gate.passed) {
      ++passed;
      criteria.insert(gate.criterion);
    } else {
      failures.push_back(failure_line(gate));
    }
  }
  std::vector<std::string> parts;
  for (const std::string when : {"before", "after"}) {
    const auto [passed, all] = counts[when];
    if (all == 0) continue;
    parts.push_back(fmt::format("{} of {} gates passed {} the timing", passed, all, when));
  }
  std::vector<std::string> lines{fmt::format("equal work: {}", fmt::join(parts, ", "))};
  if (!criteria.empty()) lines.push_back(fmt::format("by: {}", fmt::join(criteria, "; ")));
  lines.insert(lines.end(), failures.begin(), failures.end());
  return lines;
}

// By cause without its numbers: they stay in the record.
std::string voids_line(const Record& record) {
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
  return fmt::format("blocks voided, and kept in the record: {} of {}{}", voided, blocks,
                     parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, "; ")));
}

std::string untraced_line(const Record& record) {
  const auto measured = std::count_if(record.arms.begin(), record.arms.end(), is_measured);
  if (measured == 0 && record.epochs.empty()) return {};
  const auto traced = std::count_if(
      record.arms.begin(), record.arms.end(),
      [](const ArmRecord& arm) { return is_measured(arm) && arm.utilization.device_busy_us; });
  if (traced == 0) {
    return fmt::format("queue delay, device busy time, idle gaps: {} (no trace was taken)",
                       kNotMeasured);
  }
  return fmt::format(
      "queue delay, idle gaps: {} (of a trace the device busy time alone is kept, of {} of {} "
      "arms)",
      kNotMeasured, traced, measured);
}

std::string schedule_line(const ScheduleRecord& schedule) {
  return fmt::format(
      "schedule: {} {} of each backend, {} blocks of each pair in each (ABBA or BAAB, seed {}), "
      "slots of {:g} ms or more",
      schedule.processes, schedule.processes == 1 ? "process" : "processes", schedule.blocks,
      schedule.seed, schedule.slot_ms);
}

std::string claim_line(const ScheduleRecord& schedule) {
  const char* const claim =
      schedule.claim == "published" ? "an answer fit to publish (10 processes or more)"
      : schedule.claim == "working" ? "a working answer (5 processes or more)"
                                    : "no verdict: exploratory (fewer than 5 processes)";
  return fmt::format("takes about {:.0f} s of {:.0f} s; affords {}", schedule.expected_s,
                     schedule.budget_s, claim);
}

bool is_over_budget(const ScheduleRecord& schedule) {
  return schedule.budget_s > 0.0 && schedule.expected_s > schedule.budget_s;
}

std::string rate_text(const WorkFacts& work) {
  return fmt::format("{} at {}{}{}", work.optimizer, work.rate,
                     work.rate_schedule == WorkFacts{}.rate_schedule
                         ? ""
                         : fmt::format(" ({})", work.rate_schedule),
                     work.tf32 ? ", with TF32" : "");
}

std::string work_line(const Record& record) {
  return fmt::format("{}, {}, data: {}, seed {}", record.work.model, rate_text(record.work),
                     record.work.data, record.work.seed);
}

std::vector<std::string> summary_of(const Record& record) {
  return record.summary.empty() ? sentences(record) : record.summary;
}

}  // namespace stepscope
