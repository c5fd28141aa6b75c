// The sampler on a fake stream: what an interval holds, to the nanosecond.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/sampler.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/bench/measure/fake_subject.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;
using test::FakeStep;
using test::FakeSubject;
using test::FakeTimer;

using Names = std::vector<std::string_view>;
using Times = std::vector<std::int64_t>;

struct Rig {
  explicit Rig(FakeStep step, FakeStreamCosts costs = {})
      : stream(clock, costs), timer(stream), subject(stream, step) {}

  FakeClock clock;
  FakeStream stream;
  FakeTimer timer;
  FakeSubject subject;
};

TEST(Latency, R_SYN_1_SyncStampWorkSyncStamp) {
  Rig rig({.host_ns = 3, .device_ns = 20, .copy_host_ns = 1, .copy_device_ns = 4});
  const LatencyLists lists = sample_latency(rig.subject, rig.timer, 2);
  // The stamp that ends the copy begins the step.
  const Names one{"sync", "stamp", "copy", "sync", "stamp", "work", "sync", "stamp"};
  Names expected{"restart"};
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), one.begin(), one.end());
  EXPECT_EQ(rig.stream.event_names(), expected);
  EXPECT_EQ(lists.input_copy.start_ns, (Times{0, 28}));
  EXPECT_EQ(lists.input_copy.elapsed_ns, (Times{5, 5}));
  EXPECT_EQ(lists.step.start_ns, (Times{5, 33}));
  EXPECT_EQ(lists.step.elapsed_ns, (Times{23, 23}));
  EXPECT_EQ(lists.step.method, "latency");
  EXPECT_EQ(lists.step.covers, "complete");
  EXPECT_EQ(lists.step.steps_per_sample, 1);
  EXPECT_EQ(rig.subject.loaded, (Times{0, 1}));
}

TEST(Throughput, R_SYN_1_SyncStampWorkSyncStamp) {
  Rig rig({.host_ns = 3, .device_ns = 20, .copy_host_ns = 1, .copy_device_ns = 4});
  const Samples list = sample_throughput(rig.subject, rig.timer, 2, 2);
  const Names one{"restart", "sync", "stamp", "copy", "work", "copy", "work", "sync", "stamp"};
  Names expected = one;
  expected.insert(expected.end(), one.begin(), one.end());
  EXPECT_EQ(rig.stream.event_names(), expected);
  // Launches at 1, 4, 5, 8; the device is busy from 1 on: 4 + 20 + 4 + 20.
  EXPECT_EQ(list.elapsed_ns, (Times{49, 49}));
  EXPECT_EQ(list.start_ns, (Times{0, 49}));
  EXPECT_EQ(list.steps_per_sample, 2);
  EXPECT_EQ(list.method, "throughput");
  EXPECT_EQ(list.covers, "complete");
  EXPECT_EQ(rig.subject.loaded, (Times{0, 1, 0, 1}));  // every block from the start
}

TEST(Slot, R_SYN_1_SyncStampWorkSyncStamp) {
  Rig rig({.host_ns = 3, .device_ns = 20});
  rig.clock.advance(100);
  const TimedSlot slot = time_slot(rig.subject, rig.timer, 2);
  EXPECT_EQ(rig.stream.event_names(),
            (Names{"restart", "sync", "stamp", "copy", "work", "copy", "work", "sync", "stamp"}));
  EXPECT_EQ(slot.start_ns, 100);
  EXPECT_EQ(slot.elapsed_ns, 3 + 20 + 20);
}

// A machine waits 50 ms for its batch: time passes, and no processor works.
TEST(Slot, R_CLK_3_CpuTimeIsNotElapsedTime) {
  constexpr std::int64_t kWait = 50'000'000;
  Rig rig({.copy_host_ns = kWait});
  const TimedSlot slot = time_slot(rig.subject, rig.timer, 1);
  EXPECT_EQ(slot.elapsed_ns, kWait);
  EXPECT_LT(slot.process_cpu_ns, kWait / 2);
  EXPECT_GE(slot.thread_cpu_ns, 0);
}

TEST(Slot, SaysWhatTheProcessUsedMeanwhile) {
  Rig rig({.host_ns = 1});
  class Busy final : public Subject {
   public:
    explicit Busy(FakeSubject& inner) : inner_(inner) {}
    void restart() override { inner_.restart(); }
    void load(std::int64_t) override {}
    void submit() override {
      pages.resize(pages.size() + (1 << 24));  // touched by being zeroed
    }
    void wait() override { inner_.wait(); }
    bool synchronous() const override { return true; }
    std::vector<char> pages;

   private:
    FakeSubject& inner_;
  } busy(rig.subject);
  const TimedSlot slot = time_slot(busy, rig.timer, 1);
  EXPECT_GT(slot.thread_cpu_ns, 0);
  EXPECT_GT(slot.page_faults, 0);
  EXPECT_GE(slot.voluntary_switches, 0);
  EXPECT_GE(slot.involuntary_switches, 0);
}

TEST(Latency, R_SYN_4_SyncAndLaunchCostsLieInside) {
  Rig rig({.host_ns = 3, .device_ns = 20, .copy_host_ns = 1, .copy_device_ns = 4}, {.sync_ns = 7});
  const LatencyLists lists = sample_latency(rig.subject, rig.timer, 3);
  EXPECT_EQ(lists.step.elapsed_ns, Times(3, 3 + 20 + 7));
  EXPECT_EQ(lists.input_copy.elapsed_ns, Times(3, 1 + 4 + 7));
  const Samples blocks = sample_throughput(rig.subject, rig.timer, 4, 2);
  EXPECT_EQ(blocks.elapsed_ns, Times(2, 1 + 4 * (4 + 20) + 7));  // not a nanosecond subtracted
  EXPECT_EQ(time_slot(rig.subject, rig.timer, 4).elapsed_ns, 1 + 4 * (4 + 20) + 7);
}

// Host-bound: the device waits for each launch.
TEST(Throughput, R_SYN_4_LaunchCostsThatTheDeviceWaitsForCount) {
  Rig rig({.host_ns = 5, .device_ns = 2}, {.sync_ns = 1});
  EXPECT_EQ(sample_throughput(rig.subject, rig.timer, 14, 1).elapsed_ns, (Times{14 * 5 + 2 + 1}));
}

TEST(Submission, R_SYN_5_AStampBeforeTheSyncMissesWhatIsPending) {
  const FakeStep step{.host_ns = 3, .device_ns = 20};
  Rig faulty(step), correct(step);
  const std::optional<Samples> submitted = sample_submission(faulty.subject, faulty.timer, 5, 1);
  ASSERT_TRUE(submitted);
  EXPECT_EQ(faulty.stream.event_names().back(), "sync");
  const std::int64_t stop = submitted->start_ns[0] + submitted->elapsed_ns[0];
  const std::int64_t pending = faulty.stream.timeline().missed_tail(stop);
  const Samples complete = sample_throughput(correct.subject, correct.timer, 5, 1);
  EXPECT_EQ(submitted->elapsed_ns, (Times{15}));
  EXPECT_EQ(complete.elapsed_ns[0] - submitted->elapsed_ns[0], pending);
  EXPECT_EQ(pending, 88);
}

TEST(Submission, R_SYN_5_OnASynchronousStreamBothFormsAgree) {
  Rig rig({.host_ns = 3, .device_ns = 20, .synchronous = true});
  rig.subject.restart();
  rig.subject.wait();
  const std::int64_t start = rig.timer.now();
  rig.subject.submit();
  const std::int64_t faulty = rig.timer.now() - start;
  rig.subject.wait();
  EXPECT_EQ(rig.timer.now() - start, faulty);
  EXPECT_FALSE(sample_submission(rig.subject, rig.timer, 5, 1));  // so there is no second number
}

TEST(Submission, R_CLK_4_SaysThatItCoversTheSubmissionOnly) {
  Rig rig({.host_ns = 3, .device_ns = 20});
  const std::optional<Samples> list = sample_submission(rig.subject, rig.timer, 2, 2);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->covers, "submitted-only");
  EXPECT_EQ(list->method, "submission");
  EXPECT_EQ(list->elapsed_ns, (Times{6, 6}));
}

TEST(Device, OfASubjectWithoutAClockOfItsOwnNothingIsSaid) {
  Rig rig({.host_ns = 10, .device_ns = 100});
  EXPECT_FALSE(sample_device(rig.subject, rig.timer, 2, 2));
}

// A clock that ticks once for each step behind it: 3 steps are what it says, whatever the host's
// clock does meanwhile.
class StepsWatch final : public Stopwatch {
 public:
  explicit StepsWatch(const FakeSubject& subject) : subject_(subject) {}
  void start() override { begin_ = subject_.submitted; }
  void stop() override { end_ = subject_.submitted; }
  std::int64_t nanoseconds() override { return static_cast<std::int64_t>(end_ - begin_); }

 private:
  const FakeSubject& subject_;
  std::size_t begin_ = 0, end_ = 0;
};

class WatchedSubject final : public Subject {
 public:
  explicit WatchedSubject(FakeSubject& subject) : subject_(subject), watch_(subject) {}
  void restart() override { subject_.restart(); }
  void load(std::int64_t step) override { subject_.load(step); }
  void submit() override { subject_.submit(); }
  void wait() override { subject_.wait(); }
  bool synchronous() const override { return subject_.synchronous(); }
  Stopwatch* stopwatch() override { return &watch_; }

 private:
  FakeSubject& subject_;
  StepsWatch watch_;
};

TEST(Device, BlocksAreTimedByTheDevicesOwnClock) {
  Rig rig({.host_ns = 10, .device_ns = 100});
  WatchedSubject watched(rig.subject);
  const std::optional<Samples> list = sample_device(watched, rig.timer, 3, 2);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->method, "device");
  EXPECT_EQ(list->covers, "complete");
  EXPECT_EQ(list->steps_per_sample, 3);
  EXPECT_EQ(list->elapsed_ns, (std::vector<std::int64_t>{3, 3}));
  ASSERT_EQ(list->start_ns.size(), 2U);
  EXPECT_LT(list->start_ns[0], list->start_ns[1]);
}

TEST(Covers, R_CLK_4_CompleteIsRefusedWhenWorkEndsLater) {
  Rig rig({.host_ns = 3, .device_ns = 20});
  Samples list = *sample_submission(rig.subject, rig.timer, 2, 1);
  const std::array<std::int64_t, 1> end{rig.stream.timeline().end()};
  EXPECT_EQ(error_of([&] { check_covers(list, end); }), "no error");
  list.covers = "complete";
  EXPECT_EQ(
      error_of([&] { check_covers(list, end); }),
      "bad input: samples: sample 0 is said to be complete, but its work ends 37 ns after it, "
      "at 43 ns");
  EXPECT_EQ(error_of([&] { check_covers(list, {}); }),
            "bad input: samples: 1 of them, and 0 ends of work");
}

TEST(Covers, R_CLK_4_WhatTheSamplerCallsCompleteIs) {
  Rig rig({.host_ns = 3, .device_ns = 20});
  const LatencyLists lists = sample_latency(rig.subject, rig.timer, 3);
  const Times completions = rig.stream.timeline().completions;  // copy, step, copy, step ...
  EXPECT_EQ(error_of([&] {
              check_covers(lists.step, Times{completions[1], completions[3], completions[5]});
              check_covers(lists.input_copy, Times{completions[0], completions[2], completions[4]});
            }),
            "no error");
  const Samples blocks = sample_throughput(rig.subject, rig.timer, 2, 1);
  EXPECT_EQ(error_of([&] { check_covers(blocks, Times{rig.stream.timeline().end()}); }),
            "no error");
}

TEST(Latency, R_CLK_6_TheResidualIsWhatNoStageHolds) {
  constexpr std::int64_t kSync = 7;
  Rig rig({.host_ns = 3, .device_ns = 20, .copy_host_ns = 1}, {.sync_ns = kSync});
  const LatencyLists lists = sample_latency(rig.subject, rig.timer, 4);
  // The opening sync of each sample but the first lies between two intervals.
  EXPECT_EQ(residual_ns(lists.total_ns, {lists.input_copy.elapsed_ns, lists.step.elapsed_ns}),
            3 * kSync);
  EXPECT_EQ(lists.total_ns, 4 * (1 + kSync + 23 + kSync) + 3 * kSync);
  EXPECT_EQ(residual_ns(100, {Times{30, 20}, Times{45}}), 5);
  EXPECT_EQ(residual_ns(10, {}), 10);
}

TEST(Method, R_SYN_6_InstrumentedTimesAreBarredFromRatios) {
  EXPECT_FALSE(may_enter_ratio(method::kInstrumented));
  EXPECT_TRUE(may_enter_ratio(method::kLatency));
  EXPECT_TRUE(may_enter_ratio(method::kThroughput));
}

TEST(Sampler, RefusesNoSamples) {
  Rig rig({});
  EXPECT_EQ(error_of([&] { sample_latency(rig.subject, rig.timer, 0); }),
            "bad input: latency: 0 samples of 1 steps, expected 1 or more of each");
  EXPECT_EQ(error_of([&] { sample_throughput(rig.subject, rig.timer, 0, 3); }),
            "bad input: throughput: 3 samples of 0 steps, expected 1 or more of each");
}

TEST(StepsFor, FillsTheSlotWithAQuarterToSpare) {
  Rig rig({.host_ns = 1'000, .synchronous = true});
  EXPECT_EQ(steps_for(rig.subject, rig.timer, 100'000), 125);  // 128 steps were tried
  EXPECT_EQ(steps_for(rig.subject, rig.timer, 127'000), 128);  // no more than were tried
  EXPECT_EQ(steps_for(rig.subject, rig.timer, 1), 1);
}

TEST(StepsFor, StampsAndSyncAreAThousandthOfTheBlock) {
  Rig rig({.host_ns = 1'000, .synchronous = true}, {.sync_ns = 40});
  const std::int64_t steps = steps_for(rig.subject, rig.timer, 1'000);
  EXPECT_EQ(steps, 50);  // 40 us for 40 ns, and a quarter
}

TEST(StepsFor, EndsWhereTimeDoesNotPass) {
  Rig rig({});
  EXPECT_EQ(steps_for(rig.subject, rig.timer, 1'000), 100'000);
}

TEST(StepsFor, RestartsBeforeEachTry) {
  Rig rig({.host_ns = 10, .synchronous = true});
  steps_for(rig.subject, rig.timer, 35);
  EXPECT_EQ(rig.subject.loaded,
            (Times{0, 0, 1, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));  // and three repeats
}

// Now and then a step takes as long as a slot, since the processor was somebody else's.
TEST(StepsFor, IsNotDeceivedByOneLongBlock) {
  class Interrupted final : public Subject {
   public:
    explicit Interrupted(Rig& rig) : rig_(rig) {}
    void restart() override { rig_.subject.restart(); }
    void load(std::int64_t step) override { rig_.subject.load(step); }
    void submit() override {
      rig_.subject.submit();
      if (++submitted_ % 1000 == 10) rig_.clock.advance(6'000'000);
    }
    void wait() override { rig_.subject.wait(); }
    bool synchronous() const override { return true; }

   private:
    Rig& rig_;
    int submitted_ = 0;
  };
  Rig rig({.host_ns = 7'000, .synchronous = true});
  Interrupted subject(rig);
  EXPECT_GE(steps_for(subject, rig.timer, 1'000'000), 143);  // of 7 us each
}

}  // namespace
}  // namespace stepscope
