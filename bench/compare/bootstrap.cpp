// Draws of processes and blocks.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "ops/base/check.h"
#include "ops/base/philox.h"

namespace stepscope {
namespace {

// Places below a bound, by multiplication: uneven by bound / 2^32, far below what draws resolve.
class Places {
 public:
  explicit Places(std::uint64_t seed) : random_(seed) {}
  std::size_t below(std::size_t bound) {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(random_.next_u32()) * bound >> 32);
  }

 private:
  Philox random_;
};

// Medians of lists drawn from one list, without sorting each: what was drawn is counted over the
// sorted list.
class MedianDraws {
 public:
  explicit MedianDraws(std::vector<double> values)
      : sorted_(std::move(values)), counts_(sorted_.size()) {
    std::sort(sorted_.begin(), sorted_.end());
  }

  double draw(Places& places) {
    const std::size_t n = sorted_.size();
    std::fill(counts_.begin(), counts_.end(), 0U);
    for (std::size_t i = 0; i < n; ++i) ++counts_[places.below(n)];
    const std::size_t below_middle = (n - 1) / 2;  // ranks of the two in the middle, one if odd
    const std::size_t middle = n / 2;
    std::size_t place = 0, passed = counts_[0];
    while (passed <= below_middle) passed += counts_[++place];
    const double low = sorted_[place];
    while (passed <= middle) passed += counts_[++place];
    return (low + sorted_[place]) / 2.0;
  }

 private:
  std::vector<double> sorted_;
  std::vector<std::uint32_t> counts_;
};

// Logarithms of one process's ratio: blocks are drawn within their order, as they were planned;
// samples of lists each within its list.
class ProcessDraws {
 public:
  ProcessDraws(const ProcessTimes& times, bool paired) : paired_(paired) {
    check(!times.of_ns.empty() && !times.base_ns.empty(), Fault::bad_input,
          "bootstrap: a process without blocks");
    if (!paired) {
      lists_ = {MedianDraws(times.of_ns), MedianDraws(times.base_ns)};
      return;
    }
    for (const bool abba : {true, false}) {
      std::vector<double> logs = times.log_ratios(abba);
      if (!logs.empty()) lists_.emplace_back(std::move(logs));
    }
  }

  double draw(Places& places) {
    const double first = lists_.front().draw(places);
    if (lists_.size() == 1) return first;
    const double second = lists_.back().draw(places);
    return paired_ ? (first + second) / 2.0 : std::log(first / second);
  }

 private:
  bool paired_;
  std::vector<MedianDraws> lists_;
};

}  // namespace

std::vector<double> bootstrap_logs(const Evidence& evidence, std::int64_t draws,
                                   std::uint64_t seed) {
  check(!evidence.processes.empty(), Fault::bad_input, "bootstrap: no process");
  std::vector<ProcessDraws> processes;
  for (const ProcessTimes& times : evidence.processes) {
    processes.emplace_back(times, evidence.paired);
  }
  Places places(seed);
  std::vector<double> logs(static_cast<std::size_t>(draws));
  for (double& log : logs) {
    double sum = 0.0;
    for (std::size_t i = 0; i < processes.size(); ++i) {
      sum += processes[places.below(processes.size())].draw(places);
    }
    log = sum / static_cast<double>(processes.size());
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

}  // namespace stepscope
