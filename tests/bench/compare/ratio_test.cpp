// Estimates and intervals of a ratio, and what stands beside them.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/ratio.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bench/compare/bootstrap.h"
#include "bench/compare/comparable.h"
#include "tests/bench/compare/simulated.h"

namespace stepscope::test {
namespace {

// One block of each process: the base takes 10 us a step.
Evidence processes_of(const std::vector<double>& ratios) {
  Evidence evidence{.stratum = "single"};
  for (const double ratio : ratios) {
    ProcessTimes& times = evidence.processes.emplace_back();
    times.base_ns = times.base_slots_ns = {10'000.0};
    times.of_ns = times.of_slots_ns = {10'000.0 * ratio};
    times.base_first = {true};
    times.second_effect = {0.0};
    ++evidence.blocks;
  }
  return evidence;
}

// Logarithms -2, -1, 0, 1, 2 per cent: mean 0, deviation 1.5811 %, so t gives
// +- 2.776 x 1.5811 / sqrt 5 = 1.963 %.
TEST(Ratio, GeometricMeanWithStudentsIntervalByHand) {
  std::vector<double> ratios;
  for (const int percent : {-2, -1, 0, 1, 2}) ratios.push_back(std::exp(percent / 100.0));
  const RatioRecord ratio = estimate_ratio(processes_of(ratios), {}).record;
  EXPECT_NEAR(ratio.time_ratio->estimate, 1.0, 1e-12);
  EXPECT_NEAR(std::log(*ratio.t_interval->high), 0.01963, 1e-5);
  EXPECT_NEAR(std::log(*ratio.t_interval->low), -0.01963, 1e-5);
  // Means of five drawn from those: deviation sqrt(2) / sqrt(5) = 0.632 %, times 1.96 at both ends.
  EXPECT_NEAR(std::log(*ratio.bootstrap->high), 0.0124, 0.0008);
  EXPECT_EQ(ratio.time_ratio->low, ratio.t_interval->low);
  EXPECT_EQ(ratio.interval_method, "t on logarithms of the processes' ratios, the wider of two");
  EXPECT_DOUBLE_EQ(ratio.base_us->estimate, 10.0);
  EXPECT_EQ(ratio.processes, 5);
  EXPECT_EQ(ratio.blocks, 5);
}

// Processes agree and blocks do not: the bootstrap is the wider one.
TEST(Ratio, TheWiderOfTheTwoIsPublished) {
  Evidence evidence = processes_of({1.0, 1.001, 0.999, 1.0, 1.0});
  for (ProcessTimes& times : evidence.processes) {
    const double middle = times.of_ns.front();
    times.of_ns = {0.8 * middle, middle, 1.2 * middle};
    times.base_ns.assign(3, 10'000.0);
    times.base_first.assign(3, true);
    times.second_effect.assign(3, 0.0);
  }
  const RatioRecord ratio = estimate_ratio(evidence, {}).record;
  EXPECT_EQ(ratio.interval_method, "hierarchical bootstrap, the wider of two");
  EXPECT_EQ(ratio.time_ratio->low, ratio.bootstrap->low);
  EXPECT_GT(std::log(*ratio.bootstrap->high / *ratio.bootstrap->low),
            5.0 * std::log(*ratio.t_interval->high / *ratio.t_interval->low));
}

TEST(Ratio, OneProcessGivesRatioAndSpreadAlone) {
  Evidence evidence = processes_of({0.9});
  evidence.processes[0].base_ns.assign(5, 10'000.0);
  evidence.processes[0].base_first.assign(5, true);
  evidence.processes[0].of_ns = {7'000.0, 8'000.0, 9'000.0, 10'000.0, 11'000.0};
  const RatioRecord ratio = estimate_ratio(evidence, {}).record;
  EXPECT_DOUBLE_EQ(ratio.time_ratio->estimate, 0.9);
  EXPECT_FALSE(ratio.time_ratio->low || ratio.time_ratio->high);
  EXPECT_FALSE(ratio.bootstrap || ratio.t_interval);
  EXPECT_EQ(ratio.q1, 0.8);
  EXPECT_EQ(ratio.q3, 1.0);
  EXPECT_EQ(ratio.wins, 0.6);
  EXPECT_EQ(ratio.verdict, "exploratory");
  EXPECT_DOUBLE_EQ(ratio.base_us->estimate, 10.0);
  EXPECT_FALSE(ratio.base_us->low);
  EXPECT_EQ(ratio.difference_us->estimate, -1.0);
}

TEST(Ratio, CostsStandBesideItWithTheirIntervals) {
  Record record = simulated_record({.noise = {.process = 0.01, .slot = 0.01}}, {0.5}, 4);
  analyze(record);
  const RatioRecord& ratio = ratio_of(record, "arm0");
  for (const auto& [interval, truth] :
       {std::pair(ratio.base_us, 50.0), {ratio.of_us, 25.0}, {ratio.difference_us, -25.0}}) {
    ASSERT_TRUE(interval && interval->low && interval->high);
    EXPECT_LT(*interval->low, interval->estimate);
    EXPECT_GT(*interval->high, interval->estimate);
    EXPECT_NEAR(interval->estimate, truth, 1.0);
  }
  EXPECT_NEAR(*ratio.ratio_of_medians, 0.5, 0.02);
  EXPECT_EQ(ratio.wins, 1.0);
}

// A minimum may be any accident: making each process's fastest slot ten times faster moves no
// number but those that show spread.
TEST(Ratio, R_STA_7_NoNumberRestsOnAMinimum) {
  Record record = simulated_record({.blocks = 30, .noise = {.slot = 0.05}}, {0.9}, 4);
  Record faster = record;
  for (ProcessBlocks& process : faster.pairs[1].processes) {
    TimedBlock& block = process.blocks[0];
    for (TimedSlot& slot : block.slots) {
      if (&slot == &block.slots[1]) slot.elapsed_ns /= 10;
    }
  }
  analyze(record);
  analyze(faster);
  const RatioRecord& a = ratio_of(record, "arm0");
  const RatioRecord& b = ratio_of(faster, "arm0");
  EXPECT_NEAR(a.time_ratio->estimate, b.time_ratio->estimate, 0.01);
  EXPECT_NEAR(*a.ratio_of_medians, *b.ratio_of_medians, 0.01);
  EXPECT_NEAR(a.base_us->estimate, b.base_us->estimate, 0.5);
  EXPECT_EQ(a.verdict, b.verdict);
}

// A first slot that takes 5 % more moves ABBA and BAAB apart by as much; a median over both would
// fall between them, and decide nothing.
TEST(Ratio, AFirstSlotThatTakesLongerCostsNoPower) {
  for (const double first : {0.0, 0.05}) {
    int slower = 0;
    for (std::uint64_t trial = 0; trial < 30; ++trial) {
      Record record = simulated_record(
          {.processes = 10, .noise = {.slot = 0.004, .first_slot = first}}, {1.02}, trial + 1);
      analyze(record, {.draws = 1000});
      const RatioRecord& ratio = ratio_of(record, "arm0");
      slower += ratio.verdict == "SLOWER" ? 1 : 0;
      EXPECT_NEAR(ratio.time_ratio->estimate, 1.02, 0.002);
      EXPECT_NEAR(ratio.of_us->estimate / ratio.base_us->estimate, 1.02, 0.003);
      EXPECT_NEAR(ratio.difference_us->estimate, 1.0, 0.15);
    }
    EXPECT_GE(slower, 27) << first;
  }
}

// Blocks of one order: the ratio is theirs, and says so.
TEST(Ratio, BlocksOfOneOrderAloneAreSaid) {
  Record record = simulated_record({.noise = {.slot = 0.001}}, {1.1}, 2);
  analyze(record);
  EXPECT_FALSE(has_flag(ratio_of(record, "arm0").flags, "order-unbalanced"));
  for (TimedBlock& block : record.pairs[1].processes[2].blocks) {
    if (block.order == "ABBA") block.void_cause = "suspended";
  }
  analyze(record);
  const RatioRecord& ratio = ratio_of(record, "arm0");
  ASSERT_TRUE(has_flag(ratio.flags, "order-unbalanced"));
  EXPECT_EQ(ratio.flags.back().find("order-unbalanced: 1 of 5 processes "), 0U);
  EXPECT_NEAR(ratio.per_process[2], 1.1, 0.005);
}

TEST(Bootstrap, EqualSeedsGiveEqualDraws) {
  const Evidence evidence = processes_of({0.9, 1.0, 1.1, 1.05, 0.95});
  EXPECT_EQ(bootstrap_logs(evidence, 500, 1), bootstrap_logs(evidence, 500, 1));
  EXPECT_NE(bootstrap_logs(evidence, 500, 1), bootstrap_logs(evidence, 500, 2));
}

// The median of five draws out of 1 .. 5 is 3 with probability 0.3651 (by exact enumeration of the
// 3,125), and never below 1 or above 5; of four out of 1 .. 4, the mean of the middle two.
TEST(Bootstrap, MediansOfDrawnBlocks) {
  for (const int blocks : {4, 5}) {
    Evidence evidence = processes_of({1.0});
    ProcessTimes& times = evidence.processes[0];
    times.base_ns.assign(static_cast<std::size_t>(blocks), 1.0);
    times.base_first.assign(static_cast<std::size_t>(blocks), true);
    times.of_ns.clear();
    for (int block = blocks; block >= 1; --block) times.of_ns.push_back(block);
    const std::vector<double> logs = bootstrap_logs(evidence, 20'000, 3);
    // Of logarithms, so the middle of 2 and 3 is their geometric mean.
    const double middle = blocks == 5 ? std::log(3.0) : (std::log(2.0) + std::log(3.0)) / 2.0;
    const auto count = std::count_if(logs.begin(), logs.end(),
                                     [&](double log) { return std::fabs(log - middle) < 1e-12; });
    // Of four: the middle ones are 2 and 3: 54 of 256, by enumeration.
    EXPECT_NEAR(static_cast<double>(count) / 20'000.0, blocks == 5 ? 0.3651 : 54.0 / 256.0, 0.012)
        << blocks;
    EXPECT_EQ(logs.front(), 0.0);
    EXPECT_EQ(logs.back(), std::log(blocks));
  }
}

}  // namespace
}  // namespace stepscope::test
