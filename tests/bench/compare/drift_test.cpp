// Flags: each from a machine that misbehaves in one way, and none from one that does not.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/drift.h"

#include <gtest/gtest.h>

#include "bench/compare/analysis.h"
#include "tests/bench/compare/simulated.h"

namespace stepscope::test {
namespace {

using Flags = std::vector<std::string>;

Flags flags_of_base(Record& record) {
  analyze(record);
  return record.arms[0].flags;
}

Flags flags_of_pair(Record& record) {
  analyze(record);
  return ratio_of(record, "arm0").flags;
}

template <class Change>
Record changed(Change&& change, const Simulation& simulation = {.noise = {.slot = 0.005}}) {
  Record record = simulated_record(simulation, {1.0}, 6);
  for (PairRecord& pair : record.pairs) {
    for (ProcessBlocks& process : pair.processes) change(process);
  }
  return record;
}

TEST(Flags, AQuietMachineHasNone) {
  Record record = simulated_record({.processes = 10, .noise = {.slot = 0.01}}, {1.1, 0.9}, 7);
  analyze(record);
  for (const ArmRecord& arm : record.arms) EXPECT_EQ(arm.flags, Flags{}) << arm.name;
  for (const PairRecord& pair : record.pairs) EXPECT_EQ(pair.ratios[0].flags, Flags{}) << pair.of;
}

// 64 slots, each 0.1 % slower than the one before: 6.3 % in all.
TEST(Flags, Drift) {
  Record record = simulated_record({.noise = {.slot = 0.005, .drift_per_slot = 0.001}}, {1.0}, 6);
  const Flags flags = flags_of_base(record);
  ASSERT_TRUE(has_flag(flags, "drift"));
  EXPECT_EQ(flags[0].find("drift: times change over the run by up to +6."), 0U) << flags[0];
  EXPECT_NE(flags[0].find("in 5 of 5 processes"), std::string::npos) << flags[0];
  EXPECT_EQ(ratio_of(record, "arm0").verdict, "SAME") << "balanced blocks keep the ratio";
}

TEST(Flags, DriftBelowTwoPerCentIsNone) {
  Record record = simulated_record({.noise = {.slot = 0.001, .drift_per_slot = 0.0002}}, {1.0}, 6);
  EXPECT_FALSE(has_flag(flags_of_base(record), "drift"));
}

TEST(Flags, LevelShift) {
  Record record = changed([](ProcessBlocks& process) {
    for (std::size_t i = 11; i < process.blocks.size(); ++i) {
      for (TimedSlot& slot : process.blocks[i].slots) slot.elapsed_ns += slot.elapsed_ns / 20;
    }
  });
  EXPECT_TRUE(has_flag(flags_of_base(record), "level-shift"));
}

TEST(Flags, LevelShiftNeedsMoreThanNoise) {
  Record record = simulated_record({.processes = 10, .noise = {.slot = 0.10}}, {1.0}, 8);
  EXPECT_FALSE(has_flag(flags_of_base(record), "level-shift"));
}

// In one slot of four of each block: 25 %.
TEST(Flags, ContendedBySwitches) {
  Record record = changed([](ProcessBlocks& process) {
    for (TimedBlock& block : process.blocks) block.slots[0].involuntary_switches = 1;
  });
  const Flags flags = flags_of_base(record);
  ASSERT_TRUE(has_flag(flags, "contended"));
  EXPECT_NE(flags[0].find("took the CPU in "), std::string::npos) << flags[0];
}

TEST(Flags, ContendedByCpuTimeWhereStepsRunOnTheThread) {
  const auto starve = [](ProcessBlocks& process) {
    for (TimedBlock& block : process.blocks) {
      for (TimedSlot& slot : block.slots) slot.thread_cpu_ns = slot.elapsed_ns * 85 / 100;
    }
  };
  Record record = changed(starve);
  EXPECT_EQ(flags_of_base(record), Flags{"contended: the thread ran 85 % of the time of a median "
                                         "slot"});
  record.arms[0].submission.push_back({.method = "submission"});
  EXPECT_EQ(flags_of_base(record), Flags{}) << "its thread waits for a device";
  for (ProcessBlocks& process : record.pairs[0].processes) {
    for (TimedBlock& block : process.blocks) {
      for (TimedSlot& slot : block.slots) slot.thread_cpu_ns = 0;
    }
  }
  record.arms[0].submission.clear();
  record.pairs.pop_back();
  EXPECT_EQ(flags_of_base(record), Flags{}) << "not measured";
}

TEST(Flags, TwoModes) {
  Record record = changed([](ProcessBlocks& process) {
    for (std::size_t i = 0; i < process.blocks.size(); i += 3) {
      for (TimedSlot& slot : process.blocks[i].slots) slot.elapsed_ns += slot.elapsed_ns / 4;
    }
  });
  const Flags flags = flags_of_base(record);
  ASSERT_TRUE(has_flag(flags, "bimodal"));
  EXPECT_EQ(flags.back().find("bimodal: modes at 50.0"), 0U) << flags.back();
  EXPECT_NE(flags.back().find(" and 62."), std::string::npos) << flags.back();
}

// A normal distribution with every tenth slot hit is one mode with a tail.
TEST(Flags, ATailIsNoMode) {
  Record record =
      simulated_record({.processes = 10, .noise = {.slot = 0.05, .spike_share = 0.10}}, {1.0}, 6);
  EXPECT_FALSE(has_flag(flags_of_base(record), "bimodal"));
}

TEST(Flags, ListsServeWhereThereAreNoBlocks) {
  Record record;
  record.arms.push_back(arm("alone"));
  Samples samples{.method = "throughput", .steps_per_sample = 10};
  for (std::int64_t i = 0; i < 40; ++i) {
    samples.start_ns.push_back(100'000 * i);
    samples.elapsed_ns.push_back(100'000 + 500 * i);
  }
  record.arms[0].throughput.push_back(samples);
  EXPECT_TRUE(has_flag(flags_of_base(record), "drift"));
}

// Each second slot of two takes 1 % more.
TEST(Flags, OrderEffect) {
  Record record = simulated_record({.noise = {.slot = 0.005, .second_slot = 0.01}}, {1.0}, 6);
  const Flags flags = flags_of_pair(record);
  ASSERT_TRUE(has_flag(flags, "order-effect"));
  EXPECT_EQ(flags[0].find("order-effect: the second slot of two takes +"), 0U) << flags[0];
  EXPECT_NEAR(ratio_of(record, "arm0").time_ratio->estimate, 1.0, 0.005);
}

TEST(Flags, OrderEffectOfTheFirstSlotOfABlock) {
  Record record = simulated_record({.noise = {.slot = 0.002, .first_slot = 0.04}}, {1.0}, 6);
  const Flags flags = flags_of_pair(record);
  ASSERT_TRUE(has_flag(flags, "order-effect"));
  EXPECT_NE(flags[0].find("an outer slot of a block takes +"), std::string::npos) << flags[0];
  EXPECT_NE(flags[0].find("; ABBA and BAAB weigh alike, so the ratio stays"), std::string::npos);
}

TEST(Flags, DriftIsNoOrderEffect) {
  Record record = simulated_record({.noise = {.slot = 0.002, .drift_per_slot = 0.002}}, {1.0}, 6);
  EXPECT_FALSE(has_flag(flags_of_pair(record), "order-effect"));
}

// The arm has good and bad spells of four blocks.
TEST(Flags, AutocorrelatedSaysHowManyBlocksAreLeft) {
  Record record = changed([](ProcessBlocks& process) {
    for (std::size_t i = 0; i < process.blocks.size(); ++i) {
      TimedBlock& block = process.blocks[i];
      for (std::size_t slot = 0; slot < 4; ++slot) {
        if (block.order[slot] == 'B' && i / 4 % 2 == 0) {
          block.slots[slot].elapsed_ns += block.slots[slot].elapsed_ns / 30;
        }
      }
    }
  });
  const Flags flags = flags_of_pair(record);
  ASSERT_TRUE(has_flag(flags, "autocorrelated"));
  EXPECT_NE(flags.back().find("80 blocks are worth "), std::string::npos) << flags.back();
}

}  // namespace
}  // namespace stepscope::test
