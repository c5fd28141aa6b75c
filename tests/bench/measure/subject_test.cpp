// A session as a subject: the same start for every slot, the batches of the ring in turn.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/subject.h"

#include <gtest/gtest.h>

#include "backends/reference/reference.h"
#include "bench/data/generated.h"
#include "bench/measure/sampler.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBatch = 4;

class SessionSubjectTest : public testing::Test {
 protected:
  SessionSubject subject(std::int64_t twice_every = 0) {
    return {session_, ring_, kBatch, start_, twice_every};
  }
  std::map<std::string, std::vector<std::byte>> state() { return session_.parameters_and_states(); }

  std::unique_ptr<Backend> backend_ = reference::make_backend({});
  Dataset data_ =
      make_generated({.train = 64, .test = 1, .rows = 3, .columns = 3, .classes = 3}).train;
  InputRing ring_{data_.view(), kBatch, 1};
  Session session_{*backend_, make_model("mlp:9-5-3"), {.step_batches = {kBatch}}};
  std::vector<std::byte> start_ = session_.memory().snapshot(session_.stream());
  SteadyTimer timer_;
};

TEST_F(SessionSubjectTest, EverySlotBeginsAtTheSnapshot) {
  const auto at_start = state();
  SessionSubject timed = subject();
  const TimedSlot slot = time_slot(timed, timer_, 10);
  EXPECT_GT(slot.elapsed_ns, 0);
  const auto after = state();
  EXPECT_NE(after, at_start);  // it trains
  time_slot(timed, timer_, 10);
  EXPECT_EQ(state(), after);  // by bits: the same start, the same batches
  timed.restart();
  EXPECT_EQ(state(), at_start);
}

TEST_F(SessionSubjectTest, ReadsTheRingInTurn) {
  SessionSubject timed = subject();
  time_slot(timed, timer_, InputRing::kBatches + 2);
  const auto after = state();
  timed.restart();
  for (std::int64_t step = 0; step < InputRing::kBatches + 2; ++step) {
    const Batch& batch = ring_.at(step % InputRing::kBatches);
    session_.load(batch.x, batch.labels);
    session_.enqueue_step(kBatch);
  }
  EXPECT_EQ(state(), after);
}

TEST_F(SessionSubjectTest, LatencyAndThroughputDoTheSameWork) {
  SessionSubject timed = subject();
  sample_latency(timed, timer_, 6);
  const auto after = state();
  sample_throughput(timed, timer_, 6, 2);
  EXPECT_EQ(state(), after);
}

TEST_F(SessionSubjectTest, R_STA_1_WarmingUpDoesNotTrain) {
  const auto at_start = state();
  SessionSubject timed = subject();
  EXPECT_GE(warm_up(timed, timer_).samples.elapsed_ns.size(), 20u);
  EXPECT_EQ(state(), at_start);
}

TEST_F(SessionSubjectTest, R_SYN_5_AHostStreamIsSynchronous) {
  SessionSubject timed = subject();
  EXPECT_TRUE(timed.synchronous());
  EXPECT_FALSE(sample_submission(timed, timer_, 2, 2));
}

// Its size is a count of steps, not a time that was measured once: the same at every clock.
TEST_F(SessionSubjectTest, APlantedSlowDownIsOneStepMoreForEachTen) {
  SessionSubject slow = subject(10);
  const std::uint64_t before = session_.stream().counters().steps;
  time_slot(slow, timer_, 20);
  EXPECT_EQ(session_.stream().counters().steps - before, 22U);
  const auto after = state();
  slow.restart();
  for (std::int64_t step = 0; step < 20; ++step) {
    const Batch& batch = ring_.at(step);
    for (int time = 0; time < (step % 10 == 9 ? 2 : 1); ++time) {
      session_.load(batch.x, batch.labels);
      session_.enqueue_step(kBatch);
    }
  }
  EXPECT_EQ(state(), after);
}

TEST_F(SessionSubjectTest, ThePlantedStepsAreCountedFromTheRestart) {
  SessionSubject slow = subject(10), plain = subject();
  time_slot(slow, timer_, 9);
  const auto after = state();
  time_slot(plain, timer_, 9);
  EXPECT_EQ(state(), after);
  EXPECT_NE(test::error_of([&] { subject(-1); }), "no error");
}

TEST_F(SessionSubjectTest, RefusesABatchSizeThatWasNotCompiled) {
  EXPECT_NE(test::error_of([&] { SessionSubject(session_, ring_, kBatch + 1, start_); }),
            "no error");
}

TEST(Dispatch, IsASummaryOfBlocksPerStep) {
  const TimeSummary eager = time_dispatch(make_model("chain:20"), Mode::eager, 1, {});
  EXPECT_EQ(eager.count, 31);
  EXPECT_GT(eager.min_ns, 0.0);
  EXPECT_LE(eager.q1_ns, eager.median_ns);
  EXPECT_TRUE(eager.median_low_ns);
}

}  // namespace
}  // namespace stepscope
