// Times per step from slots and lists.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/blocks.h"

#include <algorithm>
#include <array>
#include <cmath>

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
double second_effect(const Block& block, const SideMeans& means, const ProcessBlocks& process) {
  std::array<double, 4> x{};
  for (std::size_t i = 0; i < 4; ++i) {
    const bool base = block.order[i] == 'A';
    const double time =
        per_step(block.slots[i].elapsed_ns, base ? process.base_steps : process.of_steps);
    x[i] = std::log(time / (base ? means.base_ns : means.of_ns));
  }
  return (x[1] + x[3] - x[0] - x[2]) / 2.0 - (x[2] + x[3] - x[0] - x[1]) / 4.0;
}

void add(ProcessTimes& times, const Block& block, const ProcessBlocks& process) {
  const SideMeans means = side_means(block, process);
  times.base_ns.push_back(means.base_ns);
  times.of_ns.push_back(means.of_ns);
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

struct ListOfStratum {
  std::string stratum;
  std::vector<double> times_ns;
};

std::string stratum_of_process(const Record& record, const ArmRecord& arm, std::int64_t process) {
  if (arm.threads == 1) return "single";
  for (const ProcessRecord& row : record.processes) {
    if (row.process == process && row.backend == arm.backend) return row.core_distance;
  }
  return "not measured";
}

std::vector<ListOfStratum> throughput_of(const Record& record, const ArmRecord& arm) {
  std::vector<ListOfStratum> lists;
  for (const Samples& samples : arm.throughput) {
    if (samples.elapsed_ns.empty()) continue;
    lists.push_back({.stratum = stratum_of_process(record, arm, samples.process)});
    for (const std::int64_t elapsed : samples.elapsed_ns) {
      lists.back().times_ns.push_back(per_step(elapsed, samples.steps_per_sample));
    }
  }
  return lists;
}

std::vector<double> pairwise(const ProcessTimes& times, double (*combine)(double, double)) {
  std::vector<double> values(times.base_ns.size());
  std::transform(times.of_ns.begin(), times.of_ns.end(), times.base_ns.begin(), values.begin(),
                 combine);
  return values;
}

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

SideMeans side_means(const Block& block, const ProcessBlocks& process) {
  check(block.order == "ABBA" || block.order == "BAAB", Fault::bad_input,
        "analysis: a block of order \"{}\", expected ABBA or BAAB", block.order);
  std::array<std::int64_t, 4> elapsed{};
  for (std::size_t i = 0; i < elapsed.size(); ++i) elapsed[i] = block.slots[i].elapsed_ns;
  return side_means(block.order, elapsed, process.base_steps, process.of_steps);
}

double ProcessTimes::ratio(bool paired) const {
  if (!paired) return median(of_ns) / median(base_ns);
  return median(pairwise(*this, [](double of, double base) { return of / base; }));
}

double ProcessTimes::difference_ns(bool paired) const {
  if (!paired) return median(of_ns) - median(base_ns);
  return median(pairwise(*this, [](double of, double base) { return of - base; }));
}

std::vector<Evidence> evidence_of_blocks(const PairRecord& pair) {
  std::vector<Evidence> strata;
  for (const ProcessBlocks& process : pair.processes) {
    std::vector<std::pair<std::string, ProcessTimes>> found;
    for (const Block& block : process.blocks) {
      Evidence& evidence = stratum_of(strata, block.stratum, true);
      if (!block.void_cause.empty()) {
        ++evidence.voided;
        continue;
      }
      ++evidence.blocks;
      auto times = std::find_if(found.begin(), found.end(),
                                [&](const auto& entry) { return entry.first == block.stratum; });
      if (times == found.end()) times = found.insert(times, {block.stratum, {}});
      add(times->second, block, process);
    }
    for (auto& [stratum, times] : found) {
      stratum_of(strata, stratum, true).processes.push_back(std::move(times));
    }
  }
  return strata;
}

std::vector<Evidence> evidence_of_lists(const Record& record, const ArmRecord& base,
                                        const ArmRecord& of) {
  std::vector<Evidence> strata;
  std::vector<ListOfStratum> partners = throughput_of(record, of);
  for (ListOfStratum& list : throughput_of(record, base)) {
    const auto partner =
        std::find_if(partners.begin(), partners.end(), [&](const ListOfStratum& other) {
          return other.stratum == list.stratum && !other.times_ns.empty();
        });
    if (partner == partners.end()) continue;
    ProcessTimes times{.base_ns = std::move(list.times_ns), .of_ns = std::move(partner->times_ns)};
    partner->times_ns.clear();  // taken
    times.base_slots_ns = times.base_ns;
    times.of_slots_ns = times.of_ns;
    Evidence& evidence = stratum_of(strata, list.stratum, false);
    evidence.blocks += static_cast<std::int64_t>(times.base_ns.size() + times.of_ns.size());
    evidence.processes.push_back(std::move(times));
  }
  return strata;
}

}  // namespace stepscope
