// Blocks of calls, long enough to be timed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/suites/suite.h"

namespace stepscope::suites {
namespace {

constexpr std::int64_t kBlockNs = 1'000'000;  // shortest; two stamps take about 50 ns
constexpr std::int64_t kMostCalls = std::int64_t{1} << 24;

std::int64_t time_of(Timer& timer, const Block& block, std::int64_t calls) {
  const std::int64_t start = timer.now();
  block(calls);
  return timer.now() - start;
}

}  // namespace

std::int64_t calls_for(Timer& timer, const Block& block) {
  constexpr int kRepeats = 3;
  block(1);  // pages, caches, code
  for (std::int64_t calls = 1;; calls *= 2) {
    std::int64_t taken = time_of(timer, block, calls);
    // One block may be long because somebody else had the processor: the shortest of a few is not.
    for (int again = 0; again < kRepeats && taken >= kBlockNs; ++again) {
      taken = std::min(taken, time_of(timer, block, calls));
    }
    if (taken >= kBlockNs || calls >= kMostCalls) return calls;
  }
}

std::vector<double> time_blocks(benchmark::State& state, Suite& suite, const Block& block) {
  std::vector<double> per_call;
  Timer& timer = suite.timer();
  const std::int64_t calls = suite.block_length([&] { return calls_for(timer, block); });
  while (state.KeepRunningBatch(calls)) {
    const auto taken = static_cast<double>(time_of(timer, block, calls));
    state.SetIterationTime(taken / kNsPerSecond);
    per_call.push_back(taken / static_cast<double>(calls));
  }
  return per_call;
}

}  // namespace stepscope::suites
