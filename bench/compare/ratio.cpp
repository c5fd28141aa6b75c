// Estimates and intervals of a ratio.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/ratio.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "bench/compare/bootstrap.h"
#include "bench/compare/budget.h"
#include "bench/measure/inference.h"
#include "bench/measure/statistics.h"

namespace stepscope {
namespace {

constexpr double kNsPerUs = 1000.0;

std::vector<double> logs_of(std::span<const double> values) {
  std::vector<double> logs(values.size());
  std::transform(values.begin(), values.end(), logs.begin(), [](double v) { return std::log(v); });
  return logs;
}

double mean(std::span<const double> values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

bool enough(std::size_t processes) {
  return processes >= static_cast<std::size_t>(kWorkingProcesses);
}

Interval mean_interval(std::span<const double> values) {
  if (!enough(values.size())) return {.estimate = mean(values)};
  const MeanInterval interval = t_interval(values, kConfidence);
  return {.estimate = interval.mean, .low = interval.low, .high = interval.high};
}

Interval exp_of(const Interval& logs) {
  const auto power = [](std::optional<double> v) { return v ? std::optional(std::exp(*v)) : v; };
  return {.estimate = std::exp(logs.estimate), .low = power(logs.low), .high = power(logs.high)};
}

double log_width(const Interval& interval) { return std::log(*interval.high / *interval.low); }

// Both intervals of the geometric mean at one confidence.
struct TwoIntervals {
  Interval bootstrap, student;

  bool bootstrap_is_wider() const { return log_width(bootstrap) > log_width(student); }
  const Interval& wider() const { return bootstrap_is_wider() ? bootstrap : student; }
};

TwoIntervals intervals_at(std::span<const double> logs, std::span<const double> draws,
                          double confidence) {
  const MeanInterval student = t_interval(logs, confidence);
  const double tail = (1.0 - confidence) / 2.0;
  return {.bootstrap = exp_of({.estimate = student.mean,
                               .low = quantile(draws, tail),
                               .high = quantile(draws, 1.0 - tail)}),
          .student = exp_of({.estimate = student.mean, .low = student.low, .high = student.high})};
}

// Spread over the blocks, and how often one won; of lists, over the processes.
void add_spread(RatioRecord& ratio, const Evidence& evidence) {
  std::vector<double> ratios = ratio.per_process;
  if (evidence.paired) {
    ratios.clear();
    for (const ProcessTimes& times : evidence.processes) {
      for (std::size_t i = 0; i < times.of_ns.size(); ++i) {
        ratios.push_back(times.of_ns[i] / times.base_ns[i]);
      }
    }
    const auto won = std::count_if(ratios.begin(), ratios.end(), [](double r) { return r < 1.0; });
    ratio.wins = static_cast<double>(won) / static_cast<double>(ratios.size());
  }
  ratio.q1 = quantile(ratios, 0.25);
  ratio.q3 = quantile(ratios, 0.75);
}

void add_costs(RatioRecord& ratio, const Evidence& evidence) {
  std::vector<double> base, of, difference, base_slots, of_slots;
  for (const ProcessTimes& times : evidence.processes) {
    base.push_back(std::log(times.base_center_ns() / kNsPerUs));
    of.push_back(std::log(times.of_center_ns() / kNsPerUs));
    difference.push_back(times.difference_ns(evidence.paired) / kNsPerUs);
    base_slots.insert(base_slots.end(), times.base_slots_ns.begin(), times.base_slots_ns.end());
    of_slots.insert(of_slots.end(), times.of_slots_ns.begin(), times.of_slots_ns.end());
  }
  ratio.base_us = exp_of(mean_interval(base));
  ratio.of_us = exp_of(mean_interval(of));
  ratio.difference_us = mean_interval(difference);
  ratio.ratio_of_medians = ratio_of_medians(of_slots, base_slots);
}

}  // namespace

RatioEstimate estimate_ratio(const Evidence& evidence, const AnalysisOptions& options,
                             double judged_confidence) {
  RatioEstimate result;
  RatioRecord& ratio = result.record;
  ratio.stratum = evidence.stratum;
  ratio.processes = static_cast<std::int64_t>(evidence.processes.size());
  ratio.blocks = evidence.blocks;
  ratio.voided = evidence.voided;
  if (evidence.processes.empty()) {
    ratio.reason = evidence.voided > 0 ? "every block is voided" : "not measured";
    return result;
  }
  for (const ProcessTimes& times : evidence.processes) {
    ratio.per_process.push_back(times.ratio(evidence.paired));
  }
  add_spread(ratio, evidence);
  add_costs(ratio, evidence);
  const std::vector<double> logs = logs_of(ratio.per_process);
  ratio.time_ratio = Interval{.estimate = std::exp(mean(logs))};
  if (!enough(logs.size())) {
    ratio.interval_method = "none: fewer than five processes";
    return result;
  }
  const std::vector<double> draws = bootstrap_logs(evidence, options.draws, options.seed);
  const TwoIntervals intervals = intervals_at(logs, draws, kConfidence);
  ratio.bootstrap = intervals.bootstrap;
  ratio.t_interval = intervals.student;
  ratio.time_ratio = intervals.wider();
  ratio.interval_method = intervals.bootstrap_is_wider()
                              ? "hierarchical bootstrap, the wider of two"
                              : "t on logarithms of the processes' ratios, the wider of two";
  result.judged = intervals_at(logs, draws, judged_confidence).wider();
  return result;
}

}  // namespace stepscope
