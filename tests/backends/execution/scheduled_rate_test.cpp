// A training by schedule is the training of a user who sets the scheduled rate before each step:
// equal bits, in every mode, fused or not, whatever the batches, and with a rate changed between.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>

#include "graph/passes/fusion.h"
#include "ops/models/schedule.h"
#include "tests/backends/execution/training.h"

namespace stepscope {
namespace {

using test::Trace;

constexpr int kSteps = 20;
constexpr std::int64_t kRows = 6, kFewer = 4;
constexpr float kFirst = 0.05F, kSecond = 0.3F;  // the user's rates
constexpr int kChange = 9;                       // the step before which the second is set

float users_rate(int step) { return step < kChange ? kFirst : kSecond; }

// The schedules again, in plain words.
double warmed(int step, int warmup, double start) { return start + (1.0 - start) * step / warmup; }
double cosine(int step, int steps, double floor) {
  const double part = std::min(1.0, static_cast<double>(step) / steps);
  return floor + (1.0 - floor) * (1.0 + std::cos(std::numbers::pi * part)) / 2.0;
}
struct Schedule {
  std::string_view text;
  double (*factor)(int step);
};
constexpr std::array kSchedules = {
    Schedule{"constant", [](int) { return 1.0; }},
    Schedule{"step:6:0.5", [](int step) { return std::pow(0.5, step / 6); }},
    Schedule{"exponential:0.9", [](int step) { return std::pow(0.9, step); }},
    Schedule{"cosine:15:0.1", [](int step) { return cosine(step, 15, 0.1); }},
    Schedule{"warmup:4,cosine:11",
             [](int step) { return step < 4 ? warmed(step, 4, 0.2) : cosine(step - 4, 11, 0.0); }}};

struct Setting {
  std::string backend;
  OptimizerSpec::Kind optimizer{};
  std::string fusion;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (const std::string& backend : test::computing_backends({"mlp:9-7-3"})) {
    for (const auto kind :
         {OptimizerSpec::Kind::sgd, OptimizerSpec::Kind::momentum, OptimizerSpec::Kind::adam}) {
      for (const char* fusion : {"off", "on"}) all.push_back({backend, kind, fusion});
    }
  }
  return all;
}

class ScheduledTraining : public testing::TestWithParam<Setting> {
 protected:
  void set_rate(Session& session, float rate) {
    session.memory().write(session.stream(), kLearningRate, std::as_bytes(std::span(&rate, 1)));
  }

  // Each fifth step is one of the partial batch.
  Trace trained(Mode mode, std::string_view schedule, auto&& rate_of) {
    const OptimizerSpec optimizer{
        .kind = GetParam().optimizer, .rate = kFirst, .schedule = parse_schedule(schedule)};
    Session session(*backend_, make_model("mlp:9-7-3", optimizer),
                    {.mode = mode,
                     .step_batches = {kRows, kFewer},
                     .evaluation_batches = {},
                     .passes = passes_for(parse_fusion(GetParam().fusion), backend_->wishes())});
    session.warm_up();
    Trace trace;
    for (int step = 0; step < kSteps; ++step) {
      set_rate(session, rate_of(step));
      test::train(session, step % 5 == 4 ? kFewer : kRows, 1, trace);
    }
    trace.end.erase(std::string(kLearningRate));
    return trace;
  }

  std::unique_ptr<Backend> backend_ = test::make_backend({GetParam().backend, 1});
};

TEST_P(ScheduledTraining, IsAsIfTheUserHadSetTheRateAtEachStep) {
  for (const Schedule& schedule : kSchedules) {
    const auto by_hand = [&](int step) {
      return static_cast<float>(double{users_rate(step)} * schedule.factor(step));
    };
    const Trace set = trained(Mode::eager, "constant", by_hand);
    for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
      EXPECT_EQ(first_difference(set, trained(mode, schedule.text, users_rate)), "")
          << schedule.text << ", " << name(mode);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ScheduledTraining, testing::ValuesIn(settings()),
                         [](const auto& made) {
                           const Setting& each = made.param;
                           return test::case_name(fmt::format("{}_{}_{}", each.backend,
                                                              name(each.optimizer), each.fusion));
                         });

// One op more, and no other: what a schedule costs.
TEST(ScheduledSteps, HaveOneOpMore) {
  const auto ops = [](std::string_view schedule, std::string_view fusion) {
    const OptimizerSpec optimizer{.schedule = parse_schedule(schedule)};
    Graph graph = make_model("mlp:9-7-3", optimizer).step(4);
    for (const Pass& pass : passes_for(parse_fusion(std::string(fusion)), {})) {
      graph = pass.run(graph).graph;
    }
    return graph.ops().size();
  };
  for (const char* fusion : {"off", "on"}) {
    EXPECT_EQ(ops("cosine:15", fusion), ops("constant", fusion) + 1) << fusion;
  }
}

}  // namespace
}  // namespace stepscope
