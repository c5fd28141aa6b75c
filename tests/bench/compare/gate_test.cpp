// The gate passes equal work and stops each way of doing unequal work.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/gate.h"

#include <gtest/gtest.h>

#include <cstring>

#include "backends/reference/reference.h"
#include "bench/compare/compare.h"
#include "bench/data/generated.h"
#include "bench/data/load.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBatch = 4;

class GateTest : public testing::Test {
 protected:
  GateTrace trace(Mode mode, std::uint64_t seed = 1, const OptimizerSpec& optimizer = {}) {
    Session session(*backend_, make_model("mlp:9-5-3", optimizer),
                    {.mode = mode, .step_batches = {kBatch}, .seed = seed});
    return gate_trace(session, ring_, kBatch);
  }

  static Dataset images() {
    return make_generated({.train = 64, .test = 1, .rows = 3, .columns = 3, .classes = 3}).train;
  }

  std::unique_ptr<Backend> backend_ = reference::make_backend({});
  Dataset data_ = images();
  InputRing ring_{data_.view(), kBatch, 1};
};

TEST_F(GateTest, PassesModesOfOneBackend) {
  const GateRecord gate = compare_bits(trace(Mode::eager), trace(Mode::graph));
  EXPECT_TRUE(gate.passed) << gate.detail;
  EXPECT_EQ(gate.steps, kGateSteps);
}

TEST_F(GateTest, StopsAnotherStart) {
  const GateRecord gate = compare_bits(trace(Mode::eager), trace(Mode::eager, 2));
  EXPECT_FALSE(gate.passed);
  EXPECT_TRUE(gate.detail.starts_with("results of step 1 differ, first ")) << gate.detail;
}

TEST_F(GateTest, SeesParametersThatTheFirstLossDoesNotShow) {
  // Another rate: the first loss is the same, the parameters behind it are not.
  GateTrace slow = trace(Mode::eager);
  GateTrace fast = trace(Mode::eager, 1, {.rate = 0.2});
  slow.results.resize(1);
  fast.results.resize(1);
  for (GateTrace* each : {&slow, &fast}) {
    each->after_first.erase("control.lr");
    each->after_last.clear();
  }
  const GateRecord bits = compare_bits(slow, fast);
  EXPECT_FALSE(bits.passed);
  EXPECT_NE(bits.detail.find("differs after step 1"), std::string::npos) << bits.detail;
  const GateRecord near = compare_within(slow, fast, kBackendTolerance);
  EXPECT_FALSE(near.passed);
  EXPECT_NE(near.detail.find("differs after step 1 by"), std::string::npos) << near.detail;
}

TEST_F(GateTest, ToleratesRoundingBetweenBackendsAndNotMore) {
  const GateTrace baseline = trace(Mode::eager);
  GateTrace other = baseline;
  other.results[3][0] *= 1.0 + 0.5 * kBackendTolerance;
  EXPECT_TRUE(compare_within(baseline, other, kBackendTolerance).passed);
  EXPECT_FALSE(compare_bits(baseline, other).passed);
  other.results[3][0] = baseline.results[3][0] + 3.0 * kBackendTolerance;
  EXPECT_FALSE(compare_within(baseline, other, kBackendTolerance).passed);
  other.results[3][0] = std::numeric_limits<double>::quiet_NaN();
  const GateRecord gate = compare_within(baseline, other, kBackendTolerance);
  EXPECT_FALSE(gate.passed);
  EXPECT_TRUE(gate.detail.starts_with("result of step 4: ")) << gate.detail;
}

TEST_F(GateTest, LeavesTheSessionAsItWas) {
  Session session(*backend_, make_model("mlp:9-5-3"),
                  {.mode = Mode::planned, .step_batches = {kBatch}});
  const auto before = session.parameters_and_states();
  (void)gate_trace(session, ring_, kBatch);
  EXPECT_EQ(session.parameters_and_states(), before);
}

TEST(InputRingTest, IsDecidedBySeedAndDataAlone) {
  const Dataset data =
      make_generated({.train = 20, .test = 1, .rows = 2, .columns = 2, .classes = 2}).train;
  const InputRing a(data.view(), 3, 7);
  EXPECT_EQ(a.digest(), InputRing(data.view(), 3, 7).digest());
  EXPECT_NE(a.digest(), InputRing(data.view(), 3, 8).digest());
  EXPECT_EQ(a.at(0).x, a.at(InputRing::kBatches).x);
  EXPECT_NE(a.at(0).x, a.at(1).x);
}

TEST(CompareBackend, TimesModesAndCountsTheirSteps) {
  const Registry registry = Registry::builtin();
  const Data data = load_data("generated", {.classes = 3, .rows = 3, .columns = 3});
  const CompareSpec spec{.model = make_model("mlp:9-5-3"),
                         .backend = "reference",
                         .modes = {Mode::eager, Mode::planned, Mode::graph},
                         .batches = {2},
                         .budget = std::chrono::milliseconds(1)};
  const Record record = compare_backend(spec, registry, &data, [](const std::string&, double) {});
  ASSERT_EQ(record.arms.size(), 3U);
  ASSERT_EQ(record.gates.size(), 2U);
  for (const ArmRecord& arm : record.arms) {
    EXPECT_EQ(arm.mode_executed, arm.mode_requested);
    EXPECT_EQ(arm.counts.calls, arm.counts.ops);
    EXPECT_EQ(arm.counts.lookups, arm.mode_requested == "eager" ? arm.counts.ops : 0U);
    EXPECT_EQ(arm.counts.submissions, arm.mode_requested == "graph" ? 1U : arm.counts.ops);
    EXPECT_EQ(arm.counts.input_bytes, 2 * 9 * sizeof(float) + 2 * sizeof(std::int32_t));
    EXPECT_EQ(arm.work_hash, record.arms[0].work_hash);
    EXPECT_EQ(arm.work_hash.size(), 64U);
    EXPECT_GE(arm.slots.size(), 5U);
    std::int64_t samples = 0;
    for (const SlotSamples& slot : arm.slots) {
      samples += static_cast<std::int64_t>(slot.wall_ns.size());
    }
    EXPECT_EQ(arm.wall.count, samples);  // nothing dropped
    ASSERT_TRUE(arm.dispatch_empty_kernels.has_value());
    EXPECT_GT(arm.dispatch_empty_kernels->median_ns, 0.0);
  }
}

TEST(CompareBackend, PlacesOfArmsTurnWithTheRounds) {
  const Registry registry = Registry::builtin();
  const CompareSpec spec{.model = make_model("chain:3:8"),
                         .backend = "null",
                         .modes = {Mode::eager, Mode::graph},
                         .batches = {1},
                         .budget = std::chrono::milliseconds(1)};
  const Record record = compare_backend(spec, registry, nullptr, [](const std::string&, double) {});
  ASSERT_EQ(record.arms.size(), 2U);
  EXPECT_TRUE(record.gates.empty());  // null computes nothing: there is no work to compare
  std::array<int, 2> first{};
  for (std::size_t i = 0; i < 2; ++i) {
    for (const SlotSamples& slot : record.arms[i].slots) first[i] += slot.position == 0 ? 1 : 0;
  }
  EXPECT_GE(first[0], 1);
  EXPECT_GE(first[1], 1);
}

}  // namespace
}  // namespace stepscope
