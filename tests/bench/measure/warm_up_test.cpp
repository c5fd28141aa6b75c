// When warming up ends, and what it keeps away from the steady lists.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/measure/sampler.h"
#include "tests/bench/measure/fake_subject.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::FakeSubject;
using test::FakeTimer;

using Times = std::vector<std::int64_t>;

struct Rig {
  explicit Rig(FakeStreamCosts costs = {}) : stream(clock, costs), timer(stream) {}

  FakeClock clock;
  FakeStream stream;
  FakeTimer timer;
  FakeSubject subject{stream, {.host_ns = 100, .device_ns = 900, .copy_host_ns = 5}};
};

TEST(WarmUp, EndsWhenTwoBlocksAgree) {
  Rig rig;
  const WarmUp warm = warm_up(rig.subject, rig.timer);
  EXPECT_EQ(warm.samples.elapsed_ns, Times(20, 1000));
  EXPECT_EQ(warm.samples.start_ns.size(), 20u);
  EXPECT_EQ(warm.samples.method, "latency");
  EXPECT_EQ(warm.samples.steps_per_sample, 1);
  EXPECT_EQ(warm.rule, "two blocks of 10 steps differ by 0.0 %, less than 2 %");
}

// 50 % slow for 15 steps: the medians of the first two blocks are 1500 and 1250 of 15 slow ones.
TEST(WarmUp, GoesOnWhileTimesFall) {
  Rig rig;
  rig.subject.extra_ns = Times(15, 500);
  const WarmUp warm = warm_up(rig.subject, rig.timer);
  EXPECT_EQ(warm.samples.elapsed_ns.size(), 40u);  // 1500, 1250, 1000, 1000
  EXPECT_EQ(warm.samples.elapsed_ns.front(), 1500);
  EXPECT_EQ(warm.rule, "two blocks of 10 steps differ by 0.0 %, less than 2 %");
}

TEST(WarmUp, TwoPercentAreTooMany) {
  Rig rig;
  rig.subject.extra_ns = Times(20, 0);
  std::fill_n(rig.subject.extra_ns.begin(), 10, 25);  // 1025, then 1000: 2.4 %
  EXPECT_EQ(warm_up(rig.subject, rig.timer).samples.elapsed_ns.size(), 30u);
  Rig close;
  close.subject.extra_ns = Times(10, 15);  // 1015, then 1000: 1.5 %
  const WarmUp warm = warm_up(close.subject, close.timer);
  EXPECT_EQ(warm.samples.elapsed_ns.size(), 20u);
  EXPECT_EQ(warm.rule, "two blocks of 10 steps differ by 1.5 %, less than 2 %");
}

TEST(WarmUp, EndsWhenItsStepsAreSpent) {
  Rig rig;
  for (std::int64_t i = 0; i < 300; ++i) rig.subject.extra_ns.push_back(i * 100);
  const WarmUp warm = warm_up(rig.subject, rig.timer);
  EXPECT_EQ(warm.samples.elapsed_ns.size(), 200u);
  EXPECT_EQ(warm.rule, "200 steps spent");
}

TEST(WarmUp, TakesTheRuleItIsGiven) {
  Rig rig;
  EXPECT_EQ(warm_up(rig.subject, rig.timer, {.least = 35}).samples.elapsed_ns.size(), 40u);
  EXPECT_EQ(warm_up(rig.subject, rig.timer, {.least = 3, .most = 3}).rule, "3 steps spent");
  EXPECT_EQ(warm_up(rig.subject, rig.timer, {.least = 0, .most = 0}).samples.elapsed_ns.size(), 0u);
  EXPECT_EQ(error_of([&] { warm_up(rig.subject, rig.timer, {.least = 30, .most = 20}); }),
            "bad input: warm-up: at least 30 and at most 20 steps within 0.02, expected 0 <= least "
            "<= most");
}

TEST(WarmUp, EndsWhereItBegan) {
  Rig rig;
  warm_up(rig.subject, rig.timer);
  const std::vector<std::string_view> names = rig.stream.event_names();
  EXPECT_EQ(names.front(), "restart");
  EXPECT_EQ(names[names.size() - 2], "restart");
  EXPECT_EQ(names.back(), "sync");
}

TEST(WarmUp, R_STA_1_FirstCallCostsAreNotInTheSteadyList) {
  Rig cold({.first_call_ns = 50'000});
  EXPECT_EQ(sample_latency(cold.subject, cold.timer, 1).input_copy.elapsed_ns, (Times{50'005}));
  Rig rig({.first_call_ns = 50'000});
  rig.subject.extra_ns = {70'000};  // and the first step makes its kernels
  const WarmUp warm = warm_up(rig.subject, rig.timer);
  EXPECT_EQ(warm.samples.elapsed_ns.front(), 71'000);
  const LatencyLists steady = sample_latency(rig.subject, rig.timer, 30);
  EXPECT_EQ(steady.step.elapsed_ns, Times(30, 1000));
  EXPECT_EQ(steady.input_copy.elapsed_ns, Times(30, 5));
}

}  // namespace
}  // namespace stepscope
