// Times per step from slots and lists.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "bench/compare/analysis.h"
#include "bench/measure/statistics.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

double per_step(std::int64_t elapsed_ns, std::int64_t steps) {
  check(elapsed_ns > 0 && steps > 0, Fault::bad_input,
        "analysis: a slot of {} steps took {} ns, expected both above 0", steps, elapsed_ns);
  return static_cast<double>(elapsed_ns) / static_cast<double>(steps);
}

// What the second slot of two takes beyond the first, as a logarithm: a drift that is linear in
// time, which the halves of the block show, is taken off, since slots 2 and 4 lie later than 1 and
// 3.
double second_effect(const TimedBlock& block, const SideMeans& means,
                     const ProcessBlocks& process) {
  std::array<double, 4> x{};
  for (std::size_t i = 0; i < 4; ++i) {
    const bool base = block.order[i] == 'A';
    const double time =
        per_step(block.slots[i].elapsed_ns, base ? process.base_steps : process.of_steps);
    x[i] = std::log(time / (base ? means.base_ns : means.of_ns));
  }
  return (x[1] + x[3] - x[0] - x[2]) / 2.0 - (x[2] + x[3] - x[0] - x[1]) / 4.0;
}

void add(ProcessTimes& times, const TimedBlock& block, const ProcessBlocks& process) {
  const SideMeans means = side_means(block, process);
  times.base_ns.push_back(means.base_ns);
  times.of_ns.push_back(means.of_ns);
  times.base_first.push_back(block.order.front() == 'A');
  times.second_effect.push_back(second_effect(block, means, process));
  for (std::size_t i = 0; i < block.slots.size(); ++i) {
    const bool base = block.order[i] == 'A';
    (base ? times.base_slots_ns : times.of_slots_ns)
        .push_back(
            per_step(block.slots[i].elapsed_ns, base ? process.base_steps : process.of_steps));
  }
}

Evidence& stratum_of(std::vector<Evidence>& strata, const std::string& stratum, bool paired) {
  const auto found = std::find_if(strata.begin(), strata.end(),
                                  [&](const Evidence& e) { return e.stratum == stratum; });
  if (found != strata.end()) return *found;
  strata.push_back({.stratum = stratum, .paired = paired});
  return strata.back();
}

// What one process measured of an arm, apart from other processes.
struct ListOfProcess {
  std::string stratum;
  double sentinel_ns = 0.0;  // median; 0: not measured
  std::vector<double> times_ns;
};

const ProcessRecord* process_of(const Record& record, const ArmRecord& arm, std::int64_t process) {
  for (const ProcessRecord& row : record.processes) {
    if (row.process == process && row.backend == arm.backend) return &row;
  }
  return nullptr;
}

std::map<std::int64_t, ListOfProcess> throughput_of(const Record& record, const ArmRecord& arm) {
  std::map<std::int64_t, ListOfProcess> lists;
  for (const Samples& samples : arm.throughput) {
    if (samples.elapsed_ns.empty()) continue;
    ListOfProcess& list = lists[samples.process];
    const ProcessRecord* row = process_of(record, arm, samples.process);
    list.stratum = row != nullptr ? row->core_distance : "not measured";
    if (arm.threads == 1) list.stratum = "single";
    if (row != nullptr && !row->sentinel_ns.empty()) {
      const std::vector<double> sentinels(row->sentinel_ns.begin(), row->sentinel_ns.end());
      list.sentinel_ns = median(sentinels);
    }
    for (const std::int64_t elapsed : samples.elapsed_ns) {
      list.times_ns.push_back(per_step(elapsed, samples.steps_per_sample));
    }
  }
  return lists;
}

// The machine had another speed, or the cores another distance.
bool ran_differently(const ListOfProcess& a, const ListOfProcess& b) {
  if (a.stratum != b.stratum) return true;
  const double low = std::min(a.sentinel_ns, b.sentinel_ns);
  const double high = std::max(a.sentinel_ns, b.sentinel_ns);
  return low > 0.0 && high > (1.0 + kSentinelTolerance) * low;
}

// Of each block of one order: combine(of, base).
std::vector<double> of_order(const ProcessTimes& times, bool abba,
                             double (*combine)(double, double)) {
  std::vector<double> values;
  for (std::size_t i = 0; i < times.of_ns.size(); ++i) {
    if (times.base_first[i] == abba) values.push_back(combine(times.of_ns[i], times.base_ns[i]));
  }
  return values;
}

double center(const ProcessTimes& times, double (*combine)(double, double)) {
  const std::vector<double> abba = of_order(times, true, combine);
  const std::vector<double> baab = of_order(times, false, combine);
  if (abba.empty() || baab.empty()) return median(abba.empty() ? baab : abba);
  return (median(abba) + median(baab)) / 2.0;
}

double log_ratio(double of, double base) { return std::log(of / base); }

}  // namespace

SideMeans side_means(std::string_view order, std::span<const std::int64_t> elapsed_ns,
                     std::int64_t base_steps, std::int64_t of_steps) {
  check(order.size() == elapsed_ns.size(), Fault::bad_input,
        "analysis: an order of {} slots for {} times", order.size(), elapsed_ns.size());
  SideMeans sums;
  double base = 0.0, of = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    check(order[i] == 'A' || order[i] == 'B', Fault::bad_input,
          "analysis: order \"{}\", expected A and B alone", order);
    if (order[i] == 'A') {
      sums.base_ns += per_step(elapsed_ns[i], base_steps);
      base += 1.0;
    } else {
      sums.of_ns += per_step(elapsed_ns[i], of_steps);
      of += 1.0;
    }
  }
  check(base > 0.0 && of > 0.0, Fault::bad_input,
        "analysis: order \"{}\", expected a slot of each side", order);
  return {.base_ns = sums.base_ns / base, .of_ns = sums.of_ns / of};
}

SideMeans side_means(const TimedBlock& block, const ProcessBlocks& process) {
  check(block.order == "ABBA" || block.order == "BAAB", Fault::bad_input,
        "analysis: a block of order \"{}\", expected ABBA or BAAB", block.order);
  std::array<std::int64_t, 4> elapsed{};
  for (std::size_t i = 0; i < elapsed.size(); ++i) elapsed[i] = block.slots[i].elapsed_ns;
  return side_means(block.order, elapsed, process.base_steps, process.of_steps);
}

std::vector<double> ProcessTimes::log_ratios(bool abba) const {
  return of_order(*this, abba, log_ratio);
}

bool ProcessTimes::one_order() const {
  const auto abba = std::count(base_first.begin(), base_first.end(), true);
  return abba == 0 || static_cast<std::size_t>(abba) == base_first.size();
}

double ProcessTimes::ratio(bool paired) const {
  if (!paired) return median(of_ns) / median(base_ns);
  return std::exp(center(*this, log_ratio));
}

double ProcessTimes::difference_ns(bool paired) const {
  if (!paired) return median(of_ns) - median(base_ns);
  return center(*this, [](double of, double base) { return of - base; });
}

double ProcessTimes::base_center_ns() const {
  if (base_first.empty()) return median(base_ns);
  return center(*this, [](double, double base) { return base; });
}

double ProcessTimes::of_center_ns() const {
  if (base_first.empty()) return median(of_ns);
  return center(*this, [](double of, double) { return of; });
}

std::vector<Evidence> evidence_of_blocks(const PairRecord& pair) {
  std::vector<Evidence> strata;
  for (const ProcessBlocks& process : pair.processes) {
    for (const TimedBlock& block : process.blocks) {
      Evidence& evidence = stratum_of(strata, block.stratum, true);
      if (!block.void_cause.empty()) {
        ++evidence.voided;
        continue;
      }
      ++evidence.blocks;
      auto times =
          std::find_if(evidence.processes.begin(), evidence.processes.end(),
                       [&](const ProcessTimes& other) { return other.process == process.process; });
      if (times == evidence.processes.end()) {
        times = evidence.processes.insert(times, {.process = process.process});
      }
      add(*times, block, process);
    }
  }
  return strata;
}

std::vector<Evidence> evidence_of_lists(const Record& record, const ArmRecord& base,
                                        const ArmRecord& of) {
  std::vector<Evidence> strata;
  std::map<std::int64_t, ListOfProcess> partners = throughput_of(record, of);
  for (auto& [process, list] : throughput_of(record, base)) {
    const auto partner = partners.find(process);
    if (partner == partners.end()) continue;
    Evidence& evidence = stratum_of(strata, list.stratum, false);
    const auto samples =
        static_cast<std::int64_t>(list.times_ns.size() + partner->second.times_ns.size());
    if (ran_differently(list, partner->second)) {
      evidence.voided += samples;
      continue;
    }
    evidence.blocks += samples;
    evidence.processes.push_back({.process = process,
                                  .base_ns = list.times_ns,
                                  .of_ns = partner->second.times_ns,
                                  .base_slots_ns = list.times_ns,
                                  .of_slots_ns = partner->second.times_ns});
  }
  return strata;
}

}  // namespace stepscope
