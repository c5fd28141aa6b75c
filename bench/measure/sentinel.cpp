// The fixed piece of host work.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/sentinel.h"

#include <algorithm>
#include <array>

namespace stepscope {
namespace {

constexpr int kSamples = 5;
// Shift, exclusive or, multiply: five cycles that wait for each other, 0.1 ms at 2.5 GHz.
constexpr int kSteps = 50'000;

std::uint64_t chain(std::uint64_t x) {
  for (int i = 0; i < kSteps; ++i) {
    x ^= x >> 29;
    x *= 0x9e3779b97f4a7c15ULL;
  }
  return x;
}

}  // namespace

std::int64_t run_sentinel(Timer& timer) {
  std::array<std::int64_t, kSamples> times{};
  volatile std::uint64_t value = 1;  // what goes in and comes out is not known to the compiler
  for (std::int64_t& time : times) {
    const std::int64_t start = timer.now();
    value = chain(value);
    time = timer.now() - start;
  }
  std::sort(times.begin(), times.end());
  return times[kSamples / 2];
}

}  // namespace stepscope
