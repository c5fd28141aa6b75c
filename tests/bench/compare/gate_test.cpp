// The gate passes equal work and stops each way of doing unequal work.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/gate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>

#include "backends/reference/reference.h"
#include "bench/compare/compare.h"
#include "bench/compare/merge.h"
#include "bench/compare/work.h"
#include "bench/data/generated.h"
#include "bench/data/load.h"
#include "bench/measure/facts_hash.h"
#include "graph/passes/rewrite.h"

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

// The same model without the ops of its step that `left_out` picks.
Model without(Model model, const std::function<bool(const Graph&, const Op&)>& left_out) {
  model.step = [step = model.step, left_out](std::int64_t batch) {
    const Graph graph = step(batch);
    Rewrite rewrite(graph);
    for (std::size_t i = 0; i < graph.ops().size(); ++i) {
      if (left_out(graph, graph.ops()[i])) rewrite.remove(i);
    }
    return rewrite.finish("").graph;
  };
  return model;
}

bool is_update(const Graph&, const Op& op) { return op.phases.contains(Phase::update); }
class UnequalWork : public GateTest {
 protected:
  GateTrace trace_of(const Model& model) {
    Session session(*backend_, model, {.mode = Mode::planned, .step_batches = {kBatch}});
    return gate_trace(session, ring_, kBatch);
  }
  Facts facts_of(const Model& model, PartialBatch partial = PartialBatch::second_plan) {
    Session session(*backend_, model, {.mode = Mode::planned, .step_batches = {kBatch}});
    return work_facts(session, {.model = model, .backend = "reference", .partial = partial}, kBatch,
                      ring_);
  }
  // Names of the facts in which two steps differ.
  static std::set<std::string> differences(const Facts& a, const Facts& b) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] != b[i]) names.insert(a[i].first);
    }
    return names;
  }

  Model model_ = make_model("mlp:9-5-3");
};

TEST_F(UnequalWork, R_EQU_1_AStepThatUpdatesNothingIsStopped) {
  const Model still = without(model_, is_update);
  for (const auto& gate : {compare_bits(trace_of(model_), trace_of(still)),
                           compare_within(trace_of(model_), trace_of(still), kBackendTolerance)}) {
    EXPECT_FALSE(gate.passed);
    EXPECT_NE(gate.detail, "");
  }
  EXPECT_EQ(differences(facts_of(model_), facts_of(still)),
            (std::set<std::string>{"step", "updates"}));
  EXPECT_NE(hash_of(facts_of(model_)), hash_of(facts_of(still)));
}

TEST_F(UnequalWork, R_EQU_6_ALossOnOneSideAloneIsStopped) {
  const GateTrace with = trace_of(model_);
  GateTrace less = with;  // the same parameters: they alone would not tell
  for (std::vector<double>& results : less.results) results.clear();
  for (const auto& gate : {compare_bits(with, less), compare_within(with, less, 1.0),
                           compare_bits(less, with), compare_rounding(with, less, with, 1.0)}) {
    EXPECT_FALSE(gate.passed);
    EXPECT_NE(gate.detail.find("one arm computes none"), std::string::npos) << gate.detail;
  }
  EXPECT_EQ(facts_of(model_), facts_of(make_model("mlp:9-5-3")));
  EXPECT_NE(differences(facts_of(model_), facts_of(make_model("chain:3:9"))).count("computes_loss"),
            0U);
}

TEST_F(UnequalWork, R_EQU_5_WhatBecomesOfPartialBatchesIsPartOfTheWork) {
  EXPECT_EQ(differences(facts_of(model_), facts_of(model_, PartialBatch::drop)),
            std::set<std::string>{"partial_policy"});
}

// A recording that reads what it read while it was made passes a gate over one batch.
TEST_F(UnequalWork, TheGateBehindReadsOtherBatches) {
  Session session(*backend_, model_, {.mode = Mode::graph, .step_batches = {kBatch}});
  const GateTrace before = gate_trace(session, ring_, kBatch, 3, 0);
  const GateTrace after = gate_trace(session, ring_, kBatch, 3, 3);
  EXPECT_NE(before.results, after.results);
  EXPECT_EQ(before.results, gate_trace(session, ring_, kBatch, 3, InputRing::kBatches).results);
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

class RunProcess : public testing::Test {
 protected:
  Record run(CompareSpec spec, const Data* data, const ProcessPlan& plan) {
    spec.batches = {2};
    SteadyTimer timer;
    return run_process(spec, Registry::builtin(), data, plan, timer,
                       [](const std::string&, double) {});
  }
};

TEST_F(RunProcess, TimesModesAndCountsTheirSteps) {
  const Data data = load_data("generated", {.classes = 3, .rows = 3, .columns = 3});
  const Record record = run({.model = make_model("mlp:9-5-3"),
                             .backend = "reference",
                             .modes = {Mode::eager, Mode::planned, Mode::graph}},
                            &data, {.process = 3, .blocks = 2, .extras = Extras::all});
  ASSERT_EQ(record.arms.size(), 4U);
  EXPECT_EQ(record.arms[3].role, "control");
  EXPECT_EQ(record.gates.size(), 6U);
  EXPECT_FALSE(record.calibration.empty());
  for (const ArmRecord& arm : record.arms) {
    EXPECT_EQ(arm.mode_executed, arm.mode_requested);
    EXPECT_EQ(arm.counts.calls, arm.counts.ops);
    EXPECT_EQ(arm.counts.lookups, arm.mode_requested == "eager" ? arm.counts.ops : 0U);
    EXPECT_EQ(arm.counts.submissions, arm.mode_requested == "graph" ? 1U : arm.counts.ops);
    EXPECT_EQ(arm.counts.input_bytes, 2 * 9 * sizeof(float) + 2 * sizeof(std::int32_t));
    EXPECT_EQ(arm.work_hash, record.arms[0].work_hash);
    EXPECT_EQ(arm.work_hash.size(), 64U);
    ASSERT_EQ(arm.latency.size(), 1U);
    EXPECT_EQ(arm.latency[0].process, 3);
    EXPECT_EQ(arm.latency[0].elapsed_ns.size(), 30U);
    EXPECT_EQ(arm.throughput.at(0).elapsed_ns.size(), 30U);
    EXPECT_EQ(arm.throughput.at(0).start_ns.size(), 30U);
    EXPECT_TRUE(arm.submission.empty());  // the stream of a host is synchronous
    EXPECT_EQ(arm.one_off.at(0).compilations_in_steady, 0);
    EXPECT_EQ(arm.dispatch_empty_kernels.has_value(), arm.role == "arm");
  }
}

TEST_F(RunProcess, EveryPairHasItsBlocksBothWaysRound) {
  const Record record = run(
      {.model = make_model("chain:3:8"), .backend = "null", .modes = {Mode::eager, Mode::graph}},
      nullptr, {.process = 1, .blocks = 4});
  EXPECT_TRUE(record.gates.empty());  // null computes nothing: there is no work to compare
  ASSERT_EQ(record.pairs.size(), 2U);
  for (const PairRecord& pair : record.pairs) {
    ASSERT_EQ(pair.processes.size(), 1U);
    EXPECT_EQ(pair.processes[0].base_steps, pair.processes[0].of_steps);
    int abba = 0;
    for (const TimedBlock& block : pair.processes[0].blocks) {
      abba += block.order == "ABBA" ? 1 : 0;
      EXPECT_GT(block.sentinel_before_ns, 0);
      EXPECT_EQ(block.stratum, "single");
    }
    EXPECT_EQ(pair.processes[0].blocks.size(), 4U);
    EXPECT_EQ(abba, 2);
  }
  // A sentinel between any two blocks, and at both ends.
  EXPECT_EQ(record.processes.at(0).sentinel_ns.size(), 2U * 4U + 1U);
}

TEST_F(RunProcess, SelfCheckAddsArmsWhoseAnswerIsKnown) {
  const Record record = run({.model = make_model("chain:3:8"),
                             .backend = "null",
                             .modes = {Mode::eager},
                             .self_check = SelfCheck::on},
                            nullptr, {.process = 1, .blocks = 2});
  std::vector<std::string> kinds;
  for (const PairRecord& pair : record.pairs) kinds.push_back(pair.kind);
  EXPECT_EQ(kinds, (std::vector<std::string>{"control", "same", "planted"}));
  const ArmRecord& planted = record.arms.at(3);
  EXPECT_EQ(planted.name, "null/eager/off/2/planted");
  EXPECT_EQ(planted.work_hash, record.arms[0].work_hash);
  const ProcessBlocks& slots = record.pairs.at(2).processes.at(0);
  EXPECT_EQ(slots.base_steps, slots.of_steps);
  EXPECT_EQ(slots.of_steps % 10, 0);  // every tenth step is done twice
}

// Processes are merged by the names of arms; what an arm does must not change between them.
TEST_F(RunProcess, PartsOfProcessesBecomeOneRecord) {
  const auto part = [&](std::int64_t process) {
    return run(
        {.model = make_model("chain:3:8"), .backend = "null", .modes = {Mode::eager, Mode::graph}},
        nullptr, {.process = process, .blocks = 2});
  };
  Record record;
  add_pilot(record, part(0));
  EXPECT_TRUE(record.pairs.empty());
  EXPECT_TRUE(record.processes.empty());
  EXPECT_TRUE(record.arms.at(0).latency.empty());
  add_process(record, part(1));
  add_process(record, part(2));
  complete_record(record);
  ASSERT_EQ(record.arms.size(), 3U);
  ASSERT_EQ(record.pairs.size(), 2U);
  EXPECT_EQ(record.pairs[1].processes.size(), 2U);
  EXPECT_EQ(record.arms[0].latency.size(), 2U);
  EXPECT_EQ(record.arms[0].one_off.size(), 2U);
  EXPECT_EQ(record.arms[0].latency_summary.count, 60);
  EXPECT_EQ(record.arms[0].protocol_hash.size(), 64U);
  Record other = part(3);
  other.arms[0].work_hash = "another";
  EXPECT_THROW(add_process(record, std::move(other)), Error);
}

}  // namespace
}  // namespace stepscope
