// Times of slots become ratios: counterbalancing exact, strata apart, voids left out.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/blocks.h"

#include <gtest/gtest.h>

#include "bench/compare/analysis.h"
#include "tests/bench/compare/simulated.h"
#include "tests/support/errors.h"

namespace stepscope::test {
namespace {

using Times = std::vector<std::int64_t>;

// measuring.md b.9: A and B cost 10 each, and the host slows by 1 with each slot.
TEST(Counterbalancing, LinearDriftByHand) {
  const Times times{10, 11, 12, 13};
  const SideMeans aabb = side_means("AABB", times);
  EXPECT_EQ(aabb.base_ns, 10.5);
  EXPECT_EQ(aabb.of_ns, 12.5);
  EXPECT_NEAR(aabb.ratio(), 1.190, 0.0005);
  const SideMeans abab = side_means("ABAB", times);
  EXPECT_EQ(abab.base_ns, 11.0);
  EXPECT_EQ(abab.of_ns, 12.0);
  EXPECT_NEAR(abab.ratio(), 1.091, 0.0005);
  for (const char* order : {"ABBA", "BAAB"}) {
    EXPECT_EQ(side_means(order, times).base_ns, 11.5) << order;
    EXPECT_EQ(side_means(order, times).of_ns, 11.5) << order;
  }
}

// The second arm of two pays 2: any number of pairs in the order AB shows + 20 % without spread.
TEST(Counterbalancing, PenaltyOfTheSecondByHand) {
  for (const char* order : {"AB", "ABAB", "ABABABAB"}) {
    Times times;
    for (std::size_t i = 0; order[i] != '\0'; ++i) times.push_back(i % 2 == 0 ? 10 : 12);
    EXPECT_DOUBLE_EQ(side_means(order, times).ratio(), 1.2) << order;
  }
  const Times times{10, 12, 10, 12};
  EXPECT_EQ(side_means("ABBA", times).ratio(), 1.0);
  EXPECT_EQ(side_means("BAAB", times).ratio(), 1.0);
}

// The same on the simulated machine and through the whole analysis. Steps of 10 us and slots of one
// step: a drift of a tenth of a step with each slot adds whole nanoseconds, so nothing is rounded.
TEST(Counterbalancing, DriftAndPenaltyLeaveTheRatioExact) {
  for (const Noise& noise : {Noise{.drift_per_slot = 0.1}, Noise{.second_slot = 0.2}}) {
    Record record =
        simulated_record({.steps = 1, .base_step_ns = 10'000.0, .noise = noise}, {1.0}, 3);
    analyze(record);
    const RatioRecord& ratio = ratio_of(record, "arm0");
    EXPECT_EQ(ratio.time_ratio->estimate, 1.0);
    EXPECT_EQ(ratio.per_process, std::vector<double>(5, 1.0));
    EXPECT_EQ(ratio.difference_us->estimate, 0.0);
    EXPECT_EQ(ratio.verdict, "SAME");
  }
}

TEST(SideMeans, DividesByTheStepsOfEachSide) {
  const SideMeans means = side_means("ABBA", Times{200, 900, 1100, 400}, 100, 500);
  EXPECT_EQ(means.base_ns, 3.0);
  EXPECT_EQ(means.of_ns, 2.0);
}

TEST(SideMeans, RefusesWhatIsNoBlock) {
  EXPECT_EQ(error_of([] {
              side_means("ABBA", Times{1, 1, 0, 1});
            }),
            "bad input: analysis: a slot of 1 steps took 0 ns, expected both above 0");
  EXPECT_EQ(error_of([] {
              side_means("ABBA", Times{1, 1, 1});
            }),
            "bad input: analysis: an order of 4 slots for 3 times");
  EXPECT_EQ(error_of([] {
              side_means("AA", Times{1, 1});
            }),
            "bad input: analysis: order \"AA\", expected a slot of each side");
  EXPECT_EQ(error_of([] {
              side_means("AC", Times{1, 1});
            }),
            "bad input: analysis: order \"AC\", expected A and B alone");
  EXPECT_EQ(error_of([] { side_means(TimedBlock{.order = "ABAB"}, ProcessBlocks{}); }),
            "bad input: analysis: a block of order \"ABAB\", expected ABBA or BAAB");
}

// Half of each process ran on near cores and half on far ones, where the arm gains nothing.
TEST(Strata, NearAndFarBlocksAreNeverMixed) {
  const Simulation near{.stratum = "near"}, far{.stratum = "far"};
  PairRecord pair = simulated_pair(near, "base", "arm0", 0.5, 1);
  const PairRecord rest = simulated_pair(far, "base", "arm0", 1.0, 2);
  for (std::size_t i = 0; i < pair.processes.size(); ++i) {
    for (const TimedBlock& block : rest.processes[i].blocks)
      pair.processes[i].blocks.push_back(block);
  }
  const std::vector<Evidence> strata = evidence_of_blocks(pair);
  ASSERT_EQ(strata.size(), 2U);
  EXPECT_EQ(strata[0].stratum, "near");
  EXPECT_EQ(strata[1].stratum, "far");
  for (const Evidence& evidence : strata) {
    EXPECT_EQ(evidence.blocks, 5 * 16);
    ASSERT_EQ(evidence.processes.size(), 5U);
    for (const ProcessTimes& times : evidence.processes) {
      EXPECT_EQ(times.of_ns.size(), 16U);
      EXPECT_DOUBLE_EQ(times.ratio(true), evidence.stratum == "near" ? 0.5 : 1.0);
    }
  }
}

// A process whose far blocks are all voided says nothing of that stratum.
TEST(Strata, VoidedBlocksAreCountedAndLeftOut) {
  PairRecord pair = simulated_pair({.processes = 2, .blocks = 4}, "base", "arm0", 1.0, 1);
  pair.processes[0].blocks[1].void_cause = "sentinel: ...";
  for (TimedBlock& block : pair.processes[1].blocks) block.void_cause = "sentinel: ...";
  const std::vector<Evidence> strata = evidence_of_blocks(pair);
  ASSERT_EQ(strata.size(), 1U);
  EXPECT_EQ(strata[0].blocks, 3);
  EXPECT_EQ(strata[0].voided, 5);
  EXPECT_EQ(strata[0].processes.size(), 1U);
}

Samples list(std::int64_t process, const Times& elapsed_ns) {
  Samples samples{.process = process, .method = "throughput", .steps_per_sample = 10};
  samples.elapsed_ns = elapsed_ns;
  samples.start_ns.assign(elapsed_ns.size(), 0);
  return samples;
}

// Process number k of one backend meets number k of the other, beside which it ran, whatever the
// order of the lists; on cores at another distance they do not meet.
TEST(Strata, ListsOfTwoBackendsArePairedByTheNumberOfTheProcess) {
  Record record;
  ArmRecord base = arm("eigen/graph"), of = arm("onednn/graph");
  of.backend = "onednn";
  base.threads = of.threads = 2;
  base.throughput = {list(0, {100, 120, 110}), list(1, {500}), list(2, {200})};
  of.throughput = {list(2, {300}), list(0, {55, 55, 40}), list(1, {1000}), list(3, {1})};
  const auto add = [&](const char* backend, std::int64_t process, const char* distance) {
    record.processes.push_back({.process = process, .backend = backend, .core_distance = distance});
  };
  add("eigen", 0, "near");
  add("eigen", 1, "far");
  add("eigen", 2, "near");
  add("onednn", 0, "near");
  add("onednn", 1, "far");
  add("onednn", 2, "near");
  const std::vector<Evidence> strata = evidence_of_lists(record, base, of);
  ASSERT_EQ(strata.size(), 2U);
  EXPECT_EQ(strata[0].stratum, "near");
  ASSERT_EQ(strata[0].processes.size(), 2U);
  EXPECT_EQ(strata[0].processes[0].ratio(false), 5.5 / 11.0);
  EXPECT_EQ(strata[0].processes[0].difference_ns(false), 5.5 - 11.0);
  EXPECT_EQ(strata[0].processes[1].ratio(false), 1.5);
  EXPECT_EQ(strata[1].stratum, "far");
  ASSERT_EQ(strata[1].processes.size(), 1U);
  EXPECT_EQ(strata[1].processes[0].ratio(false), 2.0);
  record.processes[5].core_distance = "far";
  const std::vector<Evidence> apart = evidence_of_lists(record, base, of);
  EXPECT_EQ(apart[0].processes.size(), 1U);
  EXPECT_EQ(apart[0].voided, 2);
}

// The machine was 6 % slower under one process of a pair than under the other.
TEST(Strata, ListsTimedAtAnotherSpeedOfTheMachineAreVoided) {
  Record record;
  ArmRecord base = arm("eigen/graph"), of = arm("onednn/graph");
  of.backend = "onednn";
  for (std::int64_t process = 1; process <= 3; ++process) {
    base.throughput.push_back(list(process, {100, 100, 100}));
    of.throughput.push_back(list(process, {50, 50}));
    const std::int64_t slower = process == 2 ? 106 : 105;
    record.processes.push_back(
        {.process = process, .backend = "eigen", .sentinel_ns = {100, 100, 500}});
    record.processes.push_back(
        {.process = process, .backend = "onednn", .sentinel_ns = {slower, slower, 10}});
  }
  const std::vector<Evidence> strata = evidence_of_lists(record, base, of);
  ASSERT_EQ(strata.size(), 1U);
  EXPECT_EQ(strata[0].processes.size(), 2U);
  EXPECT_EQ(strata[0].blocks, 10);
  EXPECT_EQ(strata[0].voided, 5);
  EXPECT_EQ(base.throughput.size(), 3U) << "kept";
}

// One process's blocks handed over in five parts are one process, and no verdict.
TEST(Strata, PartsOfOneProcessAreOneProcess) {
  Record record = simulated_record({}, {1.5}, 1);
  for (PairRecord& pair : record.pairs) {
    for (ProcessBlocks& process : pair.processes) process.process = 7;
  }
  const std::vector<Evidence> strata = evidence_of_blocks(record.pairs[1]);
  ASSERT_EQ(strata.size(), 1U);
  ASSERT_EQ(strata[0].processes.size(), 1U);
  EXPECT_EQ(strata[0].processes[0].of_ns.size(), 80U);
  analyze(record);
  EXPECT_EQ(ratio_of(record, "arm0").processes, 1);
  EXPECT_EQ(ratio_of(record, "arm0").verdict, "exploratory");
}

}  // namespace
}  // namespace stepscope::test
