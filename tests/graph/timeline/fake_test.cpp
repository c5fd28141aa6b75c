// The fake clock and the fake stream, against the model and against the mistakes they are there to
// show.
// SPDX-License-Identifier: Apache-2.0
#include "graph/timeline/fake.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

constexpr std::int64_t kMs = 1'000'000, kSecond = 1'000 * kMs;

TEST(FakeClock, R_CLK_2_ASettableClockGivesANegativeTime) {
  FakeClock clock;
  const std::int64_t begin = clock.now(), wall_begin = clock.wall();
  clock.advance(20 * kSecond);
  clock.set_wall(clock.wall() - 30 * kSecond);
  EXPECT_EQ(clock.wall() - wall_begin, -10 * kSecond);
  EXPECT_EQ(clock.now() - begin, 20 * kSecond);
  clock.advance(kSecond);  // both go on from where they are
  EXPECT_EQ(clock.wall() - wall_begin, -9 * kSecond);
  EXPECT_EQ(clock.now() - begin, 21 * kSecond);
}

TEST(FakeClock, TimeIsNotTurnedBack) {
  EXPECT_EQ(error_of([] { FakeClock().advance(-1); }),
            "bad input: fake clock: -1 ns to pass, expected 0 or more");
}

struct Reading {
  std::int64_t unsynchronised = 0, synchronised = 0;
};

// One launch of 0.3 ms for a kernel, or a copy, of 2.1 ms.
Reading read(StartRule start, bool copy = false) {
  FakeClock clock;
  FakeStream stream(clock, {.start = start});
  const std::int64_t begin = stream.stamp();
  copy ? stream.copy(300'000, 2'100'000) : stream.submit(300'000, 2'100'000);
  const std::int64_t submitted = stream.stamp();
  stream.sync();
  return {submitted - begin, stream.stamp() - begin};
}

TEST(FakeStream, R_SYN_7_LaunchTimeIsNotKernelTime) {
  EXPECT_EQ(read(StartRule::when_call_returns).unsynchronised, 300'000);
  EXPECT_EQ(read(StartRule::when_call_returns).synchronised, 2'400'000);
  EXPECT_EQ(read(StartRule::at_call_begin).unsynchronised, 300'000);
  EXPECT_EQ(read(StartRule::at_call_begin).synchronised, 2'100'000);
}

TEST(FakeStream, R_SYN_8_ACopyReturnsEarlyToo) {
  EXPECT_EQ(read(StartRule::when_call_returns, true).unsynchronised, 300'000);
  EXPECT_EQ(read(StartRule::when_call_returns, true).synchronised, 2'400'000);
  FakeClock clock;
  FakeStream stream(clock);
  stream.copy(1, 10);
  stream.submit(1, 5);  // waits for the copy: one stream
  EXPECT_EQ(stream.last_completion(), 16);
  EXPECT_EQ(stream.event_names(), (std::vector<std::string_view>{"copy", "work"}));
}

TEST(FakeStream, R_SYN_2_AgreesWithTheRecurrence) {
  FakeClock clock;
  FakeStream stream(clock, {.start = StartRule::at_call_begin});
  const std::vector<std::int64_t> launch{0, 2, 3, 10}, device{5, 4, 8, 2};
  for (std::size_t i = 0; i < launch.size(); ++i) {
    clock.advance(launch[i] - clock.now());
    stream.submit(0, device[i]);
  }
  const Timeline<std::int64_t> line = stream.timeline();
  EXPECT_EQ(line.launches, launch);
  EXPECT_EQ(line.completions, (std::vector<std::int64_t>{5, 9, 17, 19}));
  EXPECT_EQ(stream.last_completion(), line.end());
  EXPECT_EQ(stream.pending(), 9);  // at 10
}

TEST(FakeStream, ASyncEndsWithTheWorkAndCosts) {
  FakeClock clock;
  FakeStream stream(clock, {.sync_ns = 7});
  stream.submit(2, 10);
  stream.sync();
  EXPECT_EQ(clock.now(), 2 + 10 + 7);
  EXPECT_EQ(stream.pending(), 0);
  stream.sync();  // nothing to wait for: its own cost stays
  EXPECT_EQ(clock.now(), 26);
}

TEST(FakeStream, R_STA_1_TheFirstSubmissionAlonePaysForTheFirstCall) {
  FakeClock clock;
  FakeStream stream(clock, {.first_call_ns = 1000});
  stream.submit(2, 0);
  EXPECT_EQ(clock.now(), 1002);
  stream.submit(2, 0);
  EXPECT_EQ(clock.now(), 1004);
}

TEST(FakeStream, EventsAreKeptInOrderWithTheirTimes) {
  FakeClock clock;
  FakeStream stream(clock);
  stream.sync();
  stream.stamp();
  stream.submit(3, 4);
  stream.note("gate");
  EXPECT_EQ(stream.events(),
            (std::vector<FakeEvent>{{"sync", 0}, {"stamp", 0}, {"work", 3}, {"gate", 3}}));
  stream.clear_events();
  EXPECT_TRUE(stream.events().empty());
}

TEST(FakeStream, RefusesANegativeTime) {
  FakeClock clock;
  FakeStream stream(clock);
  EXPECT_EQ(error_of([&] { stream.submit(0, -1); }),
            "bad input: fake stream: work runs for -1 ns, expected 0 or more");
}

}  // namespace
}  // namespace stepscope
