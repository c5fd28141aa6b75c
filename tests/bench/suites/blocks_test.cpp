// How many calls make a block.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/suites/suite.h"

namespace stepscope::suites {
namespace {

class SetTimer final : public Timer {
 public:
  std::int64_t now() override { return ns; }
  std::int64_t ns = 0;
};

constexpr std::int64_t kCallNs = 100;
constexpr std::int64_t kCalls = 16'384;  // the first power of two that fills a millisecond

TEST(CallsFor, FillAMillisecond) {
  SetTimer timer;
  EXPECT_EQ(calls_for(timer, [&](std::int64_t calls) { timer.ns += calls * kCallNs; }), kCalls);
}

TEST(CallsFor, AreNoFewerForABlockThatSomebodyElseMadeLong) {
  for (int disturbed = 0; disturbed < 20; ++disturbed) {
    SetTimer timer;
    int block = 0;
    const std::int64_t calls = calls_for(timer, [&](std::int64_t asked) {
      timer.ns += asked * kCallNs + (block++ == disturbed ? 5'000'000 : 0);
    });
    EXPECT_EQ(calls, kCalls) << "block " << disturbed;
  }
}

TEST(CallsFor, IsOneForALongCall) {
  SetTimer timer;
  EXPECT_EQ(calls_for(timer, [&](std::int64_t calls) { timer.ns += calls * 2'000'000; }), 1);
}

}  // namespace
}  // namespace stepscope::suites
