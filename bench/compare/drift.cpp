// Rules of drift and interference. Thresholds: docs/measuring.md.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/drift.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>

#include "bench/compare/budget.h"
#include "bench/measure/inference.h"
#include "bench/measure/statistics.h"
#include "bench/measure/trend.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr std::array kArmFlags{"drift", "level-shift", "contended", "bimodal"};

// Of one arm in one process, in time order, per step.
struct Series {
  std::vector<double> start_ns, time_ns;
};

struct ArmSlot {
  const TimedSlot* slot = nullptr;
  double time_ns = 0.0;
};

// By process, each in time order.
std::vector<std::vector<ArmSlot>> slots_of(const Record& record, const ArmRecord& arm) {
  std::map<std::int64_t, std::vector<ArmSlot>> by_process;
  for (const PairRecord& pair : record.pairs) {
    for (const ProcessBlocks& process : pair.processes) {
      for (const TimedBlock& block : process.blocks) {
        for (std::size_t i = 0; i < block.slots.size(); ++i) {
          const bool base = block.order[i] == 'A';
          if ((base ? pair.base : pair.of) != arm.name) continue;
          const auto steps = static_cast<double>(base ? process.base_steps : process.of_steps);
          by_process[process.process].push_back(
              {&block.slots[i], static_cast<double>(block.slots[i].elapsed_ns) / steps});
        }
      }
    }
  }
  std::vector<std::vector<ArmSlot>> slots;
  for (auto& [process, list] : by_process) {
    std::sort(list.begin(), list.end(), [](const ArmSlot& a, const ArmSlot& b) {
      return a.slot->start_ns < b.slot->start_ns;
    });
    slots.push_back(std::move(list));
  }
  return slots;
}

std::vector<Series> series_of(const std::vector<std::vector<ArmSlot>>& slots,
                              const ArmRecord& arm) {
  std::vector<Series> all;
  for (const std::vector<ArmSlot>& list : slots) {
    Series& series = all.emplace_back();
    for (const ArmSlot& slot : list) {
      series.start_ns.push_back(static_cast<double>(slot.slot->start_ns));
      series.time_ns.push_back(slot.time_ns);
    }
  }
  if (!all.empty()) return all;
  for (const Samples& samples : arm.throughput) {
    Series& series = all.emplace_back();
    series.start_ns.assign(samples.start_ns.begin(), samples.start_ns.end());
    for (const std::int64_t elapsed : samples.elapsed_ns) {
      series.time_ns.push_back(static_cast<double>(elapsed) /
                               static_cast<double>(samples.steps_per_sample));
    }
  }
  return all;
}

// How many processes show something, and the largest size of it.
struct Findings {
  std::size_t processes = 0;
  double largest = 0.0;

  void add(double size) {
    ++processes;
    if (std::fabs(size) > std::fabs(largest)) largest = size;
  }
};

void add_flag(std::vector<std::string>& flags, const char* name, const Findings& findings,
              std::size_t processes, const char* what) {
  if (findings.processes == 0) return;
  flags.push_back(fmt::format("{}: {} by up to {:+.1f} % in {} of {} processes", name, what,
                              100.0 * findings.largest, findings.processes, processes));
}

constexpr std::size_t kFewestForTrend = 10;

void flag_drift(std::vector<std::string>& flags, const std::vector<Series>& all) {
  // Bonferroni: among many processes one trends by chance.
  const double level = 0.01 / static_cast<double>(all.size());
  Findings findings;
  for (const Series& series : all) {
    if (series.time_ns.size() < kFewestForTrend) continue;
    if (mann_kendall(series.time_ns).p >= level) continue;
    const double duration = series.start_ns.back() - series.start_ns.front();
    const double change =
        theil_sen(series.start_ns, series.time_ns) * duration / median(series.time_ns);
    if (std::fabs(change) > 0.02) findings.add(change);
  }
  add_flag(flags, "drift", findings, all.size(), "times change over the run");
}

void flag_level_shift(std::vector<std::string>& flags, const std::vector<Series>& all) {
  Findings findings;
  for (const Series& series : all) {
    const std::span<const double> times = series.time_ns;
    const std::size_t third = times.size() / 3;
    if (third == 0) continue;
    const auto first = times.first(third), last = times.last(third);
    const auto first_interval = median_interval(first), last_interval = median_interval(last);
    if (!first_interval || !last_interval) continue;
    const double change = median(last) / median(first) - 1.0;
    const bool apart =
        first_interval->high < last_interval->low || last_interval->high < first_interval->low;
    if (std::fabs(change) > 0.03 && apart) findings.add(change);
  }
  add_flag(flags, "level-shift", findings, all.size(), "the last third differs from the first");
}

void flag_contended(std::vector<std::string>& flags, const std::vector<std::vector<ArmSlot>>& slots,
                    bool on_calling_thread) {
  std::size_t count = 0, switched = 0;
  std::vector<double> shares;
  for (const std::vector<ArmSlot>& list : slots) {
    for (const ArmSlot& slot : list) {
      ++count;
      switched += slot.slot->involuntary_switches > 0 ? 1 : 0;
      if (slot.slot->thread_cpu_ns <= 0) continue;  // not measured
      shares.push_back(static_cast<double>(slot.slot->thread_cpu_ns) /
                       static_cast<double>(slot.slot->elapsed_ns));
    }
  }
  if (count == 0) return;
  const double share = static_cast<double>(switched) / static_cast<double>(count);
  const bool preempted = share > 0.2;
  const bool starved = on_calling_thread && !shares.empty() && median(shares) < 0.9;
  if (preempted) {
    flags.push_back(
        fmt::format("contended: the system took the CPU in {:.0f} % of slots", 100.0 * share));
  } else if (starved) {
    flags.push_back(fmt::format("contended: the thread ran {:.0f} % of the time of a median slot",
                                100.0 * median(shares)));
  }
}

struct Modes {
  double low_ns = 0.0, high_ns = 0.0;
};

// The widest gap between neighbours with a fifth of the values or more on each side, if the medians
// of the sides lie more than 2 % apart and the gap takes half of that way. In 30 values of a normal
// distribution the widest one takes about a fifth.
std::optional<Modes> two_modes(std::span<const double> times) {
  std::vector<double> sorted(times.begin(), times.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t least = (sorted.size() + 4) / 5;
  if (sorted.size() < 20) return std::nullopt;
  std::size_t cut = least;  // the first value of the upper side
  for (std::size_t i = least; i + least <= sorted.size(); ++i) {
    if (sorted[i] - sorted[i - 1] > sorted[cut] - sorted[cut - 1]) cut = i;
  }
  const double low = median(std::span(sorted).first(cut));
  const double high = median(std::span(sorted).subspan(cut));
  const double gap = sorted[cut] - sorted[cut - 1];
  if (high - low <= 0.02 * low || gap <= (high - low) / 2.0) return std::nullopt;
  return Modes{.low_ns = low, .high_ns = high};
}

void flag_bimodal(std::vector<std::string>& flags, const std::vector<Series>& all) {
  std::size_t outlying = 0, bimodal = 0;
  std::optional<Modes> widest;
  for (const Series& series : all) {
    if (series.time_ns.empty()) continue;
    const Summary summary = summarize(series.time_ns);
    outlying += 5 * summary.outliers.severe > summary.count ? 1 : 0;
    const std::optional<Modes> modes = two_modes(series.time_ns);
    if (!modes) continue;
    ++bimodal;
    if (!widest || modes->high_ns / modes->low_ns > widest->high_ns / widest->low_ns) {
      widest = modes;
    }
  }
  if (widest) {
    flags.push_back(fmt::format("bimodal: modes at {:.2f} and {:.2f} us in {} of {} processes",
                                widest->low_ns / 1000.0, widest->high_ns / 1000.0, bimodal,
                                all.size()));
  } else if (outlying > 0) {
    flags.push_back(fmt::format("bimodal: more than 20 % severe outliers in {} of {} processes",
                                outlying, all.size()));
  }
}

// Of each process with three blocks or more, its blocks around their own mean.
void flag_autocorrelated(std::vector<std::string>& flags, const Evidence& evidence) {
  double weighted = 0.0, blocks = 0.0;
  for (const ProcessTimes& times : evidence.processes) {
    if (times.of_ns.size() < 3) continue;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < times.of_ns.size(); ++i) {
      ratios.push_back(times.of_ns[i] / times.base_ns[i]);
    }
    const auto n = static_cast<double>(ratios.size());
    weighted += n * lag1_autocorrelation(ratios);
    blocks += n;
  }
  if (blocks < 16.0) return;
  const double r = weighted / blocks;
  if (r <= 0.3) return;
  flags.push_back(
      fmt::format("autocorrelated: {:.2f} between neighbours, {:.0f} blocks are worth {:.0f}", r,
                  blocks, blocks * (1.0 - r) / (1.0 + r)));
}

void add_effect(std::vector<std::string>& found, const char* what, std::span<const double> values,
                double confidence) {
  if (values.size() < static_cast<std::size_t>(kWorkingProcesses)) return;
  const MeanInterval effect = t_interval(values, confidence);
  // A median of exact zeros is no effect; nor is what doubles lose.
  constexpr double kRounding = 1e-9;
  if (effect.low <= kRounding && effect.high >= -kRounding) return;
  const auto percent = [](double log) { return 100.0 * std::expm1(log); };
  found.push_back(fmt::format("{} takes {:+.2f} % ({:+.2f} to {:+.2f})", what, percent(effect.mean),
                              percent(effect.low), percent(effect.high)));
}

void flag_order_effect(std::vector<std::string>& flags, const Evidence& evidence,
                       double confidence) {
  std::vector<double> per_process, per_block, outer;
  for (const ProcessTimes& times : evidence.processes) {
    // In BAAB the arm has the outer slots, in ABBA its base: twice what they take beyond inner
    // ones.
    if (!times.one_order()) {
      outer.push_back((median(times.log_ratios(false)) - median(times.log_ratios(true))) / 2.0);
    }
    per_process.push_back(median(times.second_effect));
    per_block.insert(per_block.end(), times.second_effect.begin(), times.second_effect.end());
  }
  const bool enough = per_process.size() >= static_cast<std::size_t>(kWorkingProcesses);
  std::vector<std::string> found;
  const double half = 1.0 - (1.0 - confidence) / 2.0;  // two effects share it
  add_effect(found, "the second slot of two", enough ? per_process : per_block, half);
  add_effect(found, "an outer slot of a block", outer, half);
  if (found.empty()) return;
  flags.push_back(fmt::format("order-effect: {}; ABBA and BAAB weigh alike, so the ratio stays",
                              fmt::join(found, "; ")));
}

void flag_order_unbalanced(std::vector<std::string>& flags, const Evidence& evidence) {
  const auto count = std::count_if(evidence.processes.begin(), evidence.processes.end(),
                                   [](const ProcessTimes& times) { return times.one_order(); });
  if (count == 0) return;
  flags.push_back(
      fmt::format("order-unbalanced: {} of {} processes have trusted blocks of "
                  "one order alone, so their ratio "
                  "holds what the order adds",
                  count, evidence.processes.size()));
}

}  // namespace

std::vector<std::string> flags_of_arm(const Record& record, const ArmRecord& arm) {
  std::vector<std::string> flags;
  const auto slots = slots_of(record, arm);
  const std::vector<Series> all = series_of(slots, arm);
  flag_drift(flags, all);
  flag_level_shift(flags, all);
  // A stream that returns before its work has ended lets its thread wait, which is no contention.
  flag_contended(flags, slots, arm.submission.empty());
  flag_bimodal(flags, all);
  return flags;
}

std::vector<std::string> flags_of_ratio(const Evidence& evidence, double confidence) {
  std::vector<std::string> flags;
  if (!evidence.paired || evidence.processes.empty()) return flags;
  flag_order_effect(flags, evidence, confidence);
  flag_order_unbalanced(flags, evidence);
  flag_autocorrelated(flags, evidence);
  return flags;
}

void drop_flags_of_arm(std::vector<std::string>& flags) {
  std::erase_if(flags, [](const std::string& flag) {
    return std::any_of(kArmFlags.begin(), kArmFlags.end(), [&](const std::string& name) {
      return flag == name || flag.starts_with(fmt::format("{}:", name));
    });
  });
}

}  // namespace stepscope
