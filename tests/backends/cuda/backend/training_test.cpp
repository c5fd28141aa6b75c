// Twenty steps on cuda-sim with each optimizer and each schedule, a rate that the user changes, the
// partial batch and evaluations in between: the same bits eager, planned, captured and of explicit
// nodes, each on a device that runs things in another order.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <span>

#include "tests/backends/cuda/backend/session_support.h"
#include "tests/backends/cuda/backend/ways.h"

namespace stepscope::cuda {
namespace {

using stepscope::test::Trace;
using test::Case;
using test::Trainee;

constexpr int kSteps = 20;

// From the step on.
struct Change {
  int step;
  float rate;
};
constexpr std::array kChanges = {Change{6, 0.125F}, Change{13, 0.02F}};

struct Mode4 {
  const char* what;
  Mode mode;
  RecordAs record_as = RecordAs::capture;
};
constexpr std::array kModes = {Mode4{"eager", Mode::eager}, Mode4{"planned", Mode::planned},
                               Mode4{"capture", Mode::graph},
                               Mode4{"nodes", Mode::graph, RecordAs::nodes}};

struct Training {
  OptimizerSpec::Kind optimizer;
  const char* schedule;
  bool fused;
  std::uint64_t n;  // of all
};

// Cosine ends, and steps fall, within the twenty.
constexpr std::array kSchedules = {"constant", "step:6:0.5", "exponential:0.9", "cosine:15:0.1",
                                   "warmup:5,cosine:12"};

std::vector<Training> trainings() {
  using enum OptimizerSpec::Kind;
  std::vector<Training> all;
  for (const OptimizerSpec::Kind optimizer : {sgd, momentum, adam}) {
    for (const char* schedule : kSchedules) {
      for (const bool fused : {false, true})
        all.push_back({optimizer, schedule, fused, all.size()});
    }
  }
  return all;
}

class Trainings : public test::DeviceTest, public testing::WithParamInterface<Training> {
 protected:
  static Case in(const Mode4& mode) {
    return {.model = "mlp:17-9-5-3",
            .rows = 5,
            .fewer = 2,
            .mode = mode.mode,
            .record_as = mode.record_as,
            .optimizer = GetParam().optimizer,
            .fused = GetParam().fused,
            .schedule = GetParam().schedule};
  }

  Trace trained(const Case& each, std::span<const Change> changes, std::uint64_t device,
                int steps = kSteps) {
    begin_anew(nth_device(device));
    Trainee run(each);
    Trace trace;
    for (int step = 0; step < steps; ++step) {
      for (const Change& change : changes) {
        if (change.step == step) {
          run->memory().write(run->stream(), kLearningRate,
                              std::as_bytes(std::span(&change.rate, 1)));
        }
      }
      stepscope::test::train(run.session(), step % 5 == 4 ? each.fewer : each.rows, 1, trace);
      if (step % 8 == 7) {
        stepscope::test::evaluate(run.session(), each.rows, trace);
        stepscope::test::evaluate(run.session(), each.fewer, trace);
      }
    }
    return trace;
  }
};

TEST_P(Trainings, AreEqualInEveryModeOnEveryDevice) {
  std::uint64_t device = GetParam().n;
  const Trace eager = trained(in(kModes[0]), kChanges, device);
  for (const Mode4& mode : std::span(kModes).subspan(1)) {
    EXPECT_EQ(first_difference(eager, trained(in(mode), kChanges, ++device)), "")
        << mode.what << ", device " << device % kDevices;
  }
}

// What the test above would not see: a rate that nobody reads is equal everywhere.
TEST_P(Trainings, FollowTheRateAndTheSchedule) {
  constexpr int kFew = 8;  // one change, and one step of each schedule
  Case each = in(kModes[1]);
  const Trace trace = trained(each, kChanges, 0, kFew);
  EXPECT_NE(first_difference(trace, trained(each, {}, 0, kFew)), "") << "the rate";
  const bool constant = each.schedule == "constant";
  each.schedule = "constant";
  EXPECT_EQ(first_difference(trace, trained(each, kChanges, 0, kFew)).empty(), constant)
      << "the schedule";
}

INSTANTIATE_TEST_SUITE_P(All, Trainings, testing::ValuesIn(trainings()), [](const auto& made) {
  const Training& each = made.param;
  return stepscope::test::case_name(std::string(name(each.optimizer)) + '_' + each.schedule) +
         (each.fused ? "_fused" : "");
});

}  // namespace
}  // namespace stepscope::cuda
