// Arms now and then, in units of their runs' sentinels.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "bench/compare/analysis.h"
#include "bench/compare/budget.h"
#include "bench/compare/comparable.h"
#include "bench/compare/verdict.h"
#include "bench/measure/inference.h"
#include "bench/measure/statistics.h"
#include "bench/record/simulated.h"

namespace stepscope {
namespace {

std::string environment_value(const Record& record, std::string_view name) {
  for (const Fact& fact : record.environment) {
    if (fact.name == name) return fact.value.value_or("");
  }
  return "";
}

std::string why_not(const Record& now, const ArmRecord& arm, const Record& then,
                    const ArmRecord& old) {
  if (arm.simulated || old.simulated) return why_simulated({arm.backend});
  const auto differ = [](std::string_view what, const std::string& a, const std::string& b) {
    if (a.empty() || b.empty()) return fmt::format("{} is not known on both sides", what);
    return a == b ? "" : fmt::format("{} differs: {} now, {} then", what, a, b);
  };
  for (const auto& [what, a, b] : {std::tuple("the processor", environment_value(now, "processor"),
                                              environment_value(then, "processor")),
                                   std::tuple("the number of threads", std::to_string(arm.threads),
                                              std::to_string(old.threads))}) {
    if (std::string why = differ(what, a, b); !why.empty()) return why;
  }
  if (std::string why = hashes_differ("work", arm.work, old.work, arm.work_hash, old.work_hash);
      !why.empty()) {
    return why;
  }
  if (std::string why = hashes_differ("protocol", now.protocol, then.protocol, arm.protocol_hash,
                                      old.protocol_hash);
      !why.empty()) {
    return why;
  }
  for (const auto& [what, a, b] :
       {std::tuple("the way of recording", arm.recorded_as, old.recorded_as),
        std::tuple("where inputs are copied", arm.inputs_copied, old.inputs_copied)}) {
    if (a != b) return differ(what, a.empty() ? "none" : a, b.empty() ? "none" : b);
  }
  if (now.status == "complete" && then.status == "complete") return "";
  return fmt::format("the status is {} now and {} then; a verdict needs two complete records",
                     now.status, then.status);
}

struct ProcessTimesOfArm {
  std::vector<double> times_us;
  std::vector<double> log_units;  // log of the time over the sentinel of the same process
};

std::vector<double> sentinels_of(const Record& record, const ArmRecord& arm, std::int64_t process) {
  for (const ProcessRecord& row : record.processes) {
    if (row.process != process || row.backend != arm.backend) continue;
    return {row.sentinel_ns.begin(), row.sentinel_ns.end()};
  }
  return {};
}

ProcessTimesOfArm times_of(const Record& record, const ArmRecord& arm) {
  ProcessTimesOfArm result;
  for (const Samples& samples : arm.throughput) {
    const std::vector<double> sentinels = sentinels_of(record, arm, samples.process);
    if (samples.elapsed_ns.empty() || sentinels.empty()) continue;
    const std::vector<double> elapsed(samples.elapsed_ns.begin(), samples.elapsed_ns.end());
    const double step_ns = median(elapsed) / static_cast<double>(samples.steps_per_sample);
    result.times_us.push_back(step_ns / 1000.0);
    result.log_units.push_back(std::log(step_ns / median(sentinels)));
  }
  return result;
}

bool is_control_of(const Record& record, const PairRecord& pair, const ArmRecord& arm) {
  return pair.kind == "control" &&
         std::any_of(record.arms.begin(), record.arms.end(), [&](const ArmRecord& base) {
           return base.name == pair.base && base.backend == arm.backend && base.batch == arm.batch;
         });
}

// The wider of the bands that the two runs' controls of the arm's backend and batch gave.
double delta_of(const Record& now, const Record& then, const ArmRecord& arm) {
  double delta = kLeastDelta;
  for (const Record* record : {&now, &then}) {
    for (const PairRecord& pair : record->pairs) {
      if (!is_control_of(*record, pair, arm)) continue;
      for (const RatioRecord& ratio : pair.ratios) delta = std::max(delta, ratio.delta.value_or(0));
    }
  }
  return delta;
}

bool enough(std::size_t processes) {
  return processes >= static_cast<std::size_t>(kWorkingProcesses);
}

struct Row {
  BaselineRecord record;
  std::optional<double> p;
};

Row row_of(const Record& now, const ArmRecord& arm, const Record& then, const ArmRecord& old,
           double delta) {
  Row result{.record = {.arm = arm.name, .reason = why_not(now, arm, then, old)}};
  BaselineRecord& row = result.record;
  if (!row.reason.empty()) return result;
  const ProcessTimesOfArm a = times_of(now, arm), b = times_of(then, old);
  if (a.times_us.empty() || b.times_us.empty()) {
    row.reason = fmt::format("not measured {}", a.times_us.empty() ? "now" : "then");
    return result;
  }
  row.now_us = median(a.times_us);
  row.then_us = median(b.times_us);
  if (!enough(a.times_us.size()) || !enough(b.times_us.size())) {
    row.change = Interval{.estimate = std::exp(median(a.log_units) - median(b.log_units))};
    row.verdict = "UNDECIDED";
    return result;
  }
  const MeanInterval change = welch_interval(a.log_units, b.log_units, kConfidence);
  row.change = Interval{.estimate = std::exp(change.mean),
                        .low = std::exp(change.low),
                        .high = std::exp(change.high)};
  row.verdict = verdict_of(*row.change, delta);
  result.p = change.p_outside(std::log1p(delta));
  return result;
}

// FASTER and SLOWER have to hold over all arms together.
void correct(std::vector<Row>& rows) {
  std::vector<double> p;
  for (const Row& row : rows) {
    if (row.p) p.push_back(*row.p);
  }
  const std::vector<double> corrected = holm(p);
  std::size_t next = 0;
  for (Row& row : rows) {
    if (!row.p) continue;
    const bool holds = corrected[next++] <= 1.0 - kConfidence;
    if (!holds && row.record.verdict != "SAME") row.record.verdict = "UNDECIDED";
  }
}

}  // namespace

std::vector<BaselineRecord> compare_with_baseline(const Record& now, const Record& then) {
  std::vector<Row> rows;
  for (const ArmRecord& arm : now.arms) {
    if (arm.role != "arm") continue;
    const auto old = std::find_if(then.arms.begin(), then.arms.end(),
                                  [&](const ArmRecord& other) { return other.name == arm.name; });
    if (old == then.arms.end()) {
      rows.push_back({.record = {.arm = arm.name, .reason = "the older record has no such arm"}});
      continue;
    }
    rows.push_back(row_of(now, arm, then, *old, delta_of(now, then, arm)));
  }
  correct(rows);
  std::vector<BaselineRecord> records;
  for (Row& row : rows) records.push_back(std::move(row.record));
  return records;
}

}  // namespace stepscope
