// What voids a block, and what voids a run. Voided blocks stay in the record.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/compare/analysis.h"
#include "tests/bench/compare/simulated.h"
#include "tests/support/errors.h"

namespace stepscope::test {
namespace {

TimedBlock& block(Record& record, std::size_t pair, std::size_t process, std::size_t place) {
  return record.pairs[pair].processes[process].blocks[place];
}

// 16 blocks of 5 processes for the control and one pair: 160.
Record quiet(double ratio = 1.2) { return simulated_record({}, {ratio}, 1); }

TEST(Void, R_STA_8_ABlockBetweenSentinelsThatDifferIsMarkedAndStays) {
  Record record = quiet();
  block(record, 1, 0, 3).sentinel_after_ns = 105'001;  // 100,000 before
  block(record, 1, 2, 5).sentinel_before_ns = 95'000;  // 5.3 % below
  block(record, 1, 2, 6).sentinel_before_ns = 105'000;
  block(record, 1, 3, 0).sentinel_before_ns = 0;  // not measured
  for (TimedSlot& slot : block(record, 1, 0, 3).slots) slot.elapsed_ns *= 10;
  analyze(record);
  EXPECT_EQ(block(record, 1, 0, 3).void_cause,
            "sentinel: 100.0 us before and 105.0 us after, 5.0 % apart");
  EXPECT_EQ(block(record, 1, 2, 5).void_cause,
            "sentinel: 95.0 us before and 100.0 us after, 5.3 % apart");
  EXPECT_EQ(block(record, 1, 2, 6).void_cause, "");
  EXPECT_EQ(block(record, 1, 3, 0).void_cause, "");
  const RatioRecord& ratio = ratio_of(record, "arm0");
  EXPECT_EQ(ratio.voided, 2);
  EXPECT_EQ(ratio.blocks, 78);
  EXPECT_EQ(record.pairs[1].processes[0].blocks.size(), 16U);
  EXPECT_EQ(record.status, "complete");
}

// Whatever the slots say: sentinels alone decide.
TEST(Void, IsBlindToTheArms) {
  Record a = quiet(), b = quiet(5.0);
  for (Record* record : {&a, &b}) block(*record, 1, 1, 1).sentinel_after_ns = 120'000;
  for (TimedSlot& slot : block(a, 1, 2, 2).slots) slot.elapsed_ns *= 50;
  analyze(a);
  analyze(b);
  for (std::size_t process = 0; process < 5; ++process) {
    for (std::size_t place = 0; place < 16; ++place) {
      EXPECT_EQ(block(a, 1, process, place).void_cause, block(b, 1, process, place).void_cause);
    }
  }
}

TEST(Void, ACauseThatTheInstrumentSetStays) {
  Record record = quiet();
  block(record, 1, 0, 0).void_cause = "suspended";
  block(record, 1, 0, 1).void_cause = "sentinel: of an older analysis";
  analyze(record);
  EXPECT_EQ(block(record, 1, 0, 0).void_cause, "suspended");
  EXPECT_EQ(block(record, 1, 0, 1).void_cause, "");
  EXPECT_EQ(ratio_of(record, "arm0").voided, 1);
}

void void_blocks(Record& record, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    block(record, i % 2, i / 2 % 5, i / 10).sentinel_after_ns = 200'000;
  }
}

TEST(Void, TheRunIsVoidAboveHalfOfItsBlocks) {
  Record record = quiet();
  void_blocks(record, 80);  // of 160
  analyze(record);
  EXPECT_EQ(record.status, "complete");
  EXPECT_EQ(ratio_of(record, "arm0").verdict, "SLOWER");
  void_blocks(record, 81);
  analyze(record);
  EXPECT_EQ(record.status, "void");
  EXPECT_EQ(record.status_reason, "81 of 160 blocks are voided, above 50 %");
  const RatioRecord& ratio = ratio_of(record, "arm0");
  EXPECT_EQ(ratio.verdict, "void");
  EXPECT_EQ(ratio.verdict_reason, record.status_reason);
  EXPECT_TRUE(ratio.time_ratio) << "numbers stay for people to see";
}

TEST(Void, AControlThatExcludesOneVoidsTheRun) {
  Record record = quiet();
  record.pairs[0] =
      simulated_pair({.noise = {.process = 0.001}}, "base", "base/again", 1.02, 9, "control");
  analyze(record);
  EXPECT_EQ(record.status, "void");
  EXPECT_EQ(record.status_reason.find("A/A control base/again (stratum single): the interval 1.0"),
            0U)
      << record.status_reason;
  EXPECT_NE(record.status_reason.find("excludes 1"), std::string::npos);
  EXPECT_EQ(ratio_of(record, "arm0").verdict, "void");
  EXPECT_EQ(ratio_of(record, "base/again").verdict, "void");
}

TEST(Void, AFloorAboveFivePerCentVoidsTheRun) {
  Record record = quiet();
  record.pairs[0] =
      simulated_pair({.noise = {.process = 0.08}}, "base", "base/again", 1.0, 9, "control");
  analyze(record);
  EXPECT_EQ(record.status, "void");
  EXPECT_NE(record.status_reason.find("its floor is "), std::string::npos) << record.status_reason;
  EXPECT_NE(record.status_reason.find("above 5 %"), std::string::npos);
}

// The same again at another batch size, with arms and a control of its own.
Record at_two_batches() {
  Record record = quiet();
  Record other = quiet();
  for (ArmRecord& arm : other.arms) {
    arm.name += "/64";
    arm.batch = 64;
    record.arms.push_back(arm);
  }
  for (PairRecord& pair : other.pairs) {
    pair.base += "/64";
    pair.of += "/64";
    record.pairs.push_back(pair);
  }
  return record;
}

TEST(Void, AControlThatDoesNotHoldVoidsThePairsOfItsBatchAlone) {
  Record record = at_two_batches();
  PairRecord& control = record.pairs.at(2);
  control =
      simulated_pair({.noise = {.process = 0.08}}, "base/64", "base/again/64", 1.0, 9, "control");
  analyze(record);
  EXPECT_EQ(record.status, "complete");
  EXPECT_EQ(record.status_reason.find("A/A control base/again/64 (stratum single): its floor is "),
            0U)
      << record.status_reason;
  EXPECT_EQ(ratio_of(record, "arm0").verdict, "SLOWER");
  EXPECT_EQ(ratio_of(record, "base/again").verdict, "SAME");
  const RatioRecord& ratio = ratio_of(record, "arm0/64");
  EXPECT_EQ(ratio.verdict, "void");
  EXPECT_EQ(ratio.verdict_reason, record.status_reason);
  EXPECT_FALSE(ratio.p_holm) << "it is none of the verdicts that share the correction";
  EXPECT_EQ(ratio_of(record, "base/again/64").verdict, "void");
  EXPECT_EQ(record.pairs.at(3).break_even->text, "not known: void");
}

TEST(Void, WhereNoControlHoldsTheRunIsVoid) {
  Record record = at_two_batches();
  for (const std::size_t at : {0U, 2U}) {
    record.pairs[at] = simulated_pair({.noise = {.process = 0.08}}, record.pairs[at].base,
                                      record.pairs[at].of, 1.0, 9, "control");
  }
  analyze(record);
  EXPECT_EQ(record.status, "void");
  EXPECT_NE(record.status_reason.find("base/again (stratum single)"), std::string::npos);
  EXPECT_NE(record.status_reason.find("base/again/64 (stratum single)"), std::string::npos);
  EXPECT_EQ(ratio_of(record, "arm0").verdict, "void");
}

// One process gives no verdict, so there is none to void; its status still tells of the voids.
TEST(Void, AQuickRunIsExploratoryOnAnyMachine) {
  Record record = simulated_record({}, {1.2}, 1);
  for (PairRecord& pair : record.pairs) pair.processes.resize(1);
  for (std::size_t place = 0; place < 10; ++place) {
    for (std::size_t pair : {0U, 1U}) block(record, pair, 0, place).sentinel_after_ns = 200'000;
  }
  analyze(record);
  EXPECT_EQ(record.status, "exploratory");
  EXPECT_EQ(record.status_reason,
            "fewer than 5 processes: ratios and their spread, no verdict; 20 of 32 blocks are "
            "voided, above 50 %");
  EXPECT_EQ(ratio_of(record, "arm0").verdict, "exploratory");
}

// Never loop until quiet.
TEST(Void, AfterTwoRerunsTheEnvironmentIsInconclusive) {
  Record record = quiet();
  void_blocks(record, 100);
  for (const std::int64_t reruns : {0, 1, 2}) {
    analyze(record, {.reruns = reruns});
    EXPECT_EQ(record.status, reruns < 2 ? "void" : "inconclusive-environment");
  }
}

TEST(Analysis, RunTwiceGivesTheSame) {
  const Noise noise{.process = 0.02, .slot = 0.05, .sentinel = 0.02, .drift_per_slot = 0.001};
  Record once = simulated_record({.noise = noise}, {1.1, 0.9}, 5);
  once.arms[0].flags = {"mine"};
  analyze(once);
  Record twice = once;
  analyze(twice);
  EXPECT_EQ(twice.status, once.status);
  EXPECT_EQ(twice.arms[0].flags, once.arms[0].flags);
  EXPECT_TRUE(has_flag(once.arms[0].flags, "mine"));
  for (std::size_t pair = 0; pair < once.pairs.size(); ++pair) {
    const PairRecord& a = once.pairs[pair];
    const PairRecord& b = twice.pairs[pair];
    EXPECT_TRUE(std::equal(a.processes.begin(), a.processes.end(), b.processes.begin()));
    ASSERT_EQ(a.ratios.size(), b.ratios.size());
    EXPECT_EQ(a.ratios[0].time_ratio->low, b.ratios[0].time_ratio->low);
    EXPECT_EQ(a.ratios[0].verdict, b.ratios[0].verdict);
    EXPECT_EQ(a.ratios[0].verdict_reason, b.ratios[0].verdict_reason);
    EXPECT_EQ(a.ratios[0].voided, b.ratios[0].voided);
    EXPECT_EQ(a.ratios[0].flags, b.ratios[0].flags);
  }
}

TEST(Analysis, APlanWithoutADeviceGetsNoNumber) {
  Record record = quiet();
  record.status = "not-run";
  analyze(record);
  EXPECT_EQ(record.status, "not-run");
  EXPECT_TRUE(record.pairs[1].ratios.empty());
}

TEST(Analysis, PairsWithoutTimesAreNotMeasured) {
  Record record = quiet();
  record.pairs[1].processes.clear();
  analyze(record);
  const RatioRecord& ratio = ratio_of(record, "arm0");
  EXPECT_EQ(ratio.reason, "not measured");
  EXPECT_EQ(ratio.verdict, "void");
  EXPECT_FALSE(ratio.time_ratio);
  EXPECT_EQ(record.pairs[1].break_even->text, "not known: not measured");
}

TEST(Analysis, RefusesAPairOfArmsThatAreNotThere) {
  Record record = quiet();
  record.pairs[1].of = "ghost";
  EXPECT_EQ(error_of([&] { analyze(record); }),
            "bad input: analysis: a pair names the arm \"ghost\", which the record does not have");
}

// A pair between backends: its controls are those of both, and the wider band holds.
TEST(Analysis, BackendsAreComparedByTheirProcesses) {
  Record record = simulated_record({.noise = {.process = 0.01}}, {1.0}, 3);
  const Record other = simulated_record({.noise = {.process = 0.02}}, {}, 4);
  for (ArmRecord peer : other.arms) {
    peer.name = "onednn/" + peer.name;
    peer.backend = "onednn";
    record.arms.push_back(peer);
  }
  PairRecord control = other.pairs[0];
  control.base = "onednn/base";
  control.of = "onednn/base/again";
  record.pairs.push_back(control);
  for (std::int64_t process = 0; process < 5; ++process) {
    const auto list = [&](std::int64_t elapsed) {
      Samples samples{.process = process, .method = "throughput", .steps_per_sample = 100};
      for (std::int64_t i = -5; i <= 5; ++i) {
        samples.start_ns.push_back(i);
        samples.elapsed_ns.push_back(i == 5 ? 100 * elapsed : elapsed + 10 * i);
      }
      return samples;
    };
    record.arms[0].throughput.push_back(list(100'000 + 100 * process));
    record.arms[3].throughput.push_back(list(50'000 + 100 * process));
  }
  ASSERT_EQ(record.arms[3].name, "onednn/base");
  record.pairs.push_back({.base = "base", .of = "onednn/base"});
  analyze(record);
  EXPECT_EQ(record.status, "complete") << record.status_reason;
  const RatioRecord& ratio = ratio_of(record, "onednn/base");
  EXPECT_NEAR(ratio.time_ratio->estimate, 0.501, 0.001);
  EXPECT_EQ(ratio.verdict, "FASTER");
  EXPECT_EQ(ratio.processes, 5);
  EXPECT_FALSE(ratio.wins) << "there are no blocks to win";
  EXPECT_EQ(ratio.delta, std::max(ratio_of(record, "base/again").delta,
                                  ratio_of(record, "onednn/base/again").delta));
}

// One block of each process ran on far cores, where the control looks bad by accident: it judges
// nothing, and the near ones keep their verdicts.
TEST(Analysis, AThinStratumIsExploratoryAndVoidsNothing) {
  Record record =
      simulated_record({.processes = 10, .noise = {.slot = 0.002}, .stratum = "near"}, {1.1}, 1);
  for (PairRecord& pair : record.pairs) {
    for (ProcessBlocks& process : pair.processes) {
      TimedBlock& far = process.blocks[5];
      far.stratum = "far";
      for (std::size_t i = 0; i < 4; ++i) {
        if (far.order[i] == 'B') far.slots[i].elapsed_ns += far.slots[i].elapsed_ns / 5;
      }
    }
  }
  analyze(record);
  EXPECT_EQ(record.status, "complete") << record.status_reason;
  EXPECT_EQ(ratio_of(record, "arm0", "near").verdict, "SLOWER");
  for (const char* name : {"arm0", "base/again"}) {
    const RatioRecord& far = ratio_of(record, name, "far");
    EXPECT_EQ(far.verdict, "exploratory");
    EXPECT_EQ(far.verdict_reason, std::string(name) +
                                      " has 4 or more trusted blocks in 0 of 10 processes; a "
                                      "verdict needs 5");
  }
}

// Two of five processes ran on far cores: neither stratum has five of its own but the near one of
// the rest, and neither is filled from the other.
TEST(Analysis, AStratumWithTooFewProcessesIsExploratory) {
  Record record = simulated_record({.processes = 7, .stratum = "near"}, {1.5}, 1);
  for (PairRecord& pair : record.pairs) {
    for (const std::size_t process : {1U, 4U}) {
      for (TimedBlock& far : pair.processes[process].blocks) far.stratum = "far";
    }
  }
  analyze(record);
  EXPECT_EQ(ratio_of(record, "arm0", "near").verdict, "SLOWER");
  EXPECT_EQ(ratio_of(record, "arm0", "near").processes, 5);
  EXPECT_EQ(ratio_of(record, "arm0", "far").verdict, "exploratory");
  EXPECT_EQ(ratio_of(record, "arm0", "far").processes, 2);
  EXPECT_EQ(record.status, "complete");
}

}  // namespace
}  // namespace stepscope::test
