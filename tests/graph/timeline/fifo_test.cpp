// The stream model on numbers that were worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include "graph/timeline/fifo.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

using Times = std::vector<std::int64_t>;
using Line = Timeline<std::int64_t>;

Line fifo(const Times& launch, const Times& device) {
  return run_fifo<std::int64_t>(launch, device);
}

// Four launches, the last of which comes after the closing stamp at 9.
TEST(Fifo, R_SYN_2_CompletionsFollowTheRecurrence) {
  const Line line = fifo({0, 2, 3, 10}, {5, 4, 8, 2});
  EXPECT_EQ(line.completions, (Times{5, 9, 17, 19}));
  EXPECT_EQ(line.starts, (Times{0, 5, 9, 17}));
  EXPECT_EQ(line.queue_delays, (Times{0, 3, 6, 7}));
  EXPECT_EQ(line.busy, 19);
  EXPECT_EQ(line.idle, 0);
  EXPECT_EQ(line.span, 19);
  EXPECT_TRUE(line.gaps.empty());
  EXPECT_DOUBLE_EQ(line.active_share(), 1.0);
}

TEST(Fifo, R_SYN_3_AStampBeforeTheLastCompletionMissesTheRest) {
  const Line line = fifo({0, 2, 3, 10}, {5, 4, 8, 2});
  EXPECT_EQ(line.unsynchronised(0, 9), 9);
  EXPECT_EQ(line.missed_tail(9), 10);  // eight of the third piece, two of the fourth
  EXPECT_EQ(line.missed_tail(18), 1);
  EXPECT_EQ(line.missed_tail(19), 0);
  EXPECT_EQ(line.missed_tail(20), 0);
  EXPECT_FALSE(line.covered_by(18));
  EXPECT_TRUE(line.covered_by(19));
}

TEST(Fifo, GapsAreTheTimesWithoutWork) {
  const Line line = fifo({0, 2, 3, 10}, {1, 1, 1, 1});
  EXPECT_EQ(line.starts, (Times{0, 2, 3, 10}));
  EXPECT_EQ(line.completions, (Times{1, 3, 4, 11}));
  EXPECT_EQ(line.busy, 4);
  EXPECT_EQ(line.idle, 7);
  EXPECT_EQ(line.span, 11);
  EXPECT_EQ(line.gaps, (std::vector<Gap<std::int64_t>>{{1, 1, 1}, {3, 4, 6}}));
  EXPECT_NEAR(line.active_share(), 0.364, 0.0005);
  EXPECT_EQ(line.span, line.busy + line.idle);
}

// 14 launches of 5 us host time each, kernels of 2 us; in nanoseconds.
TEST(Fifo, EagerIsBoundByTheHost) {
  Times launch, device;
  for (std::int64_t i = 1; i <= 14; ++i) {
    launch.push_back(5000 * i);
    device.push_back(2000);
  }
  const Line line = fifo(launch, device);
  EXPECT_EQ(line.end(), 72'000);
  EXPECT_EQ(line.missed_tail(70'000), 2'000);  // the host is done at 70
  EXPECT_EQ(line.busy, 28'000);
  EXPECT_EQ(line.idle, 39'000);  // between the first start and the end
  EXPECT_EQ(line.gaps.size(), 13u);
}

// The same kernels from one submission of 10 us, half a microsecond apart.
TEST(Fifo, AReplayIsBoundByTheDevice) {
  const Times nodes(14, 2000);
  const Line line = run_replay<std::int64_t>(10'000, nodes, 500);
  EXPECT_EQ(line.end(), 44'500);
  EXPECT_EQ(line.missed_tail(10'000), 34'500);  // the host is done at 10
  EXPECT_EQ(line.starts[1], 12'500);
  EXPECT_EQ(line.busy, 28'000);
  EXPECT_EQ(line.idle, 13 * 500);
  EXPECT_EQ(line.queue_delays, Times(14, 0));
  EXPECT_NEAR(72'000.0 / static_cast<double>(line.end()), 1.618, 0.0005);
}

TEST(Fifo, DoublesFollowTheSameRecurrence) {
  const std::vector<double> launch{0.0, 0.5}, device{2.25, 1.0};
  const Timeline<double> line = run_fifo<double>(launch, device);
  EXPECT_EQ(line.completions, (std::vector<double>{2.25, 3.25}));
  EXPECT_EQ(line.queue_delays, (std::vector<double>{0.0, 1.75}));
  EXPECT_EQ(run_replay<double>(1.0, device, 0.25).end(), 4.5);
}

TEST(Fifo, WithoutWorkNothingIsBusy) {
  const Line line = fifo({}, {});
  EXPECT_EQ(line.end(), 0);
  EXPECT_EQ(line.active_share(), 0.0);
  EXPECT_TRUE(line.covered_by(0));
}

TEST(Fifo, RefusesWhatNoStreamDoes) {
  EXPECT_EQ(error_of([] { fifo({0, 1}, {1}); }), "bad input: stream: 2 launches, 1 durations");
  EXPECT_EQ(error_of([] {
              fifo({3, 1}, {1, 1});
            }),
            "bad input: stream: piece 1 is launched at 1, before piece 0 at 3");
  EXPECT_EQ(error_of([] { fifo({0}, {-1}); }),
            "bad input: stream: piece 0 runs for -1, expected 0 or more");
  EXPECT_EQ(error_of([] {
              run_replay<std::int64_t>(0, Times{1, 1}, -2);
            }),
            "bad input: stream: -2 between the nodes, expected 0 or more");
}

}  // namespace
}  // namespace stepscope
