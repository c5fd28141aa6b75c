// Warming up until times have settled.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/measure/sampler.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr std::size_t kBlock = 10;

// Of the block that ends `back` blocks before the end; halves are means of the two in the middle.
double block_median(const std::vector<std::int64_t>& values, std::size_t back) {
  std::array<std::int64_t, kBlock> block{};
  std::copy_n(values.end() - static_cast<std::ptrdiff_t>((back + 1) * kBlock), kBlock,
              block.begin());
  std::sort(block.begin(), block.end());
  return static_cast<double>(block[kBlock / 2 - 1] + block[kBlock / 2]) / 2.0;
}

// By how much the last block differs from the one before, as a share of that one.
double change(const std::vector<std::int64_t>& values) {
  const double before = block_median(values, 1), last = block_median(values, 0);
  return last == before ? 0.0 : std::abs(last - before) / before;
}

}  // namespace

WarmUp warm_up(Subject& subject, Timer& timer, const WarmUpRule& rule) {
  check(rule.least >= 0 && rule.most >= rule.least && rule.tolerance >= 0.0, Fault::bad_input,
        "warm-up: at least {} and at most {} steps within {}, expected 0 <= least <= most",
        rule.least, rule.most, rule.tolerance);
  WarmUp result;
  Samples& samples = result.samples;
  samples.method = method::kLatency;
  samples.covers = kComplete;
  samples.start_ns.reserve(static_cast<std::size_t>(rule.most));
  samples.elapsed_ns.reserve(static_cast<std::size_t>(rule.most));
  subject.restart();
  result.rule = fmt::format("{} steps spent", rule.most);
  for (std::int64_t step = 0; step < rule.most; ++step) {
    subject.load(step);
    subject.wait();
    const std::int64_t start = timer.now();
    subject.submit();
    subject.wait();
    samples.start_ns.push_back(start);
    samples.elapsed_ns.push_back(timer.now() - start);
    const std::size_t taken = samples.elapsed_ns.size();
    const bool at_edge = taken % kBlock == 0 && taken >= 2 * kBlock;
    if (!at_edge || step + 1 < rule.least) continue;
    if (const double differs = change(samples.elapsed_ns); differs < rule.tolerance) {
      result.rule = fmt::format("two blocks of {} steps differ by {:.1f} %, less than {:g} %",
                                kBlock, 100.0 * differs, 100.0 * rule.tolerance);
      break;
    }
  }
  subject.restart();
  subject.wait();
  return result;
}

}  // namespace stepscope
