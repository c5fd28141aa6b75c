// measure(): how often it calls, and in which order.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/measure.h"

#include <gtest/gtest.h>

#include "tests/bench/measure/fake_subject.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::FakeTimer;

TEST(Measure, R_STA_9_CallsWarmUpAndRepeatTimesAndSyncsTwiceASample) {
  int calls = 0, syncs = 0;
  const std::vector<double> seconds = measure([&] { ++calls; }, 2, 5, [&] { ++syncs; });
  EXPECT_EQ(calls, 7);
  EXPECT_EQ(syncs, 10);
  ASSERT_EQ(seconds.size(), 5u);
  for (const double second : seconds) EXPECT_GE(second, 0.0);
}

TEST(Measure, R_STA_9_WithoutASyncNoneIsCalled) {
  int calls = 0;
  EXPECT_EQ(measure([&] { ++calls; }, 2, 5).size(), 5u);
  EXPECT_EQ(calls, 7);
}

TEST(Measure, R_SYN_1_SyncStampWorkSyncStamp) {
  FakeClock clock;
  FakeStream stream(clock);
  FakeTimer timer(stream);
  const std::vector<double> seconds =
      measure([&] { stream.submit(2'000, 3'000); }, 1, 1, [&] { stream.sync(); }, &timer);
  EXPECT_EQ(stream.event_names(),
            (std::vector<std::string_view>{"work", "sync", "stamp", "work", "sync", "stamp"}));
  EXPECT_EQ(seconds, (std::vector<double>{5'000 * 1e-9}));
}

TEST(Measure, WithoutASyncOnlyTheSubmissionIsSeen) {
  FakeClock clock;
  FakeStream stream(clock);
  FakeTimer timer(stream);
  EXPECT_EQ(measure([&] { stream.submit(2'000, 3'000); }, 0, 2, {}, &timer),
            (std::vector<double>{2'000 * 1e-9, 2'000 * 1e-9}));
}

TEST(Measure, NothingToTimeIsAnEmptyList) {
  EXPECT_TRUE(measure([] {}, 3, 0).empty());
  EXPECT_EQ(error_of([] { measure([] {}, -1, 5); }),
            "bad input: measure: -1 calls to warm up and 5 to time, expected 0 or more");
}

}  // namespace
}  // namespace stepscope
