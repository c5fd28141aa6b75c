// A run against an older record.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/baseline.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/bench/compare/simulated.h"

namespace stepscope::test {
namespace {

// Steps of 50 us times `slower` in each process, on a machine whose sentinel takes `sentinel_us`.
Record run(double slower, double sentinel_us, std::int64_t processes = 5) {
  Record record;
  record.environment = {{.name = "processor", .value = "A 9 at 3 GHz"}};
  ArmRecord base = arm("base");
  for (std::int64_t process = 0; process < processes; ++process) {
    const double luck = 1.0 + 0.002 * static_cast<double>(process % 3);
    const auto block = std::llround(50'000.0 * slower * luck * 100.0);
    base.throughput.push_back({.process = process,
                               .method = "throughput",
                               .steps_per_sample = 100,
                               .start_ns = {0, 0, 0},
                               .elapsed_ns = {block, block + 10, 5 * block}});
    const auto sentinel = std::llround(1000.0 * sentinel_us);
    record.processes.push_back({.process = process,
                                .backend = "eigen",
                                .sentinel_ns = {sentinel, sentinel, 3 * sentinel}});
  }
  record.arms.push_back(base);
  record.arms.push_back(arm("base/again", "control"));
  return record;
}

BaselineRecord row(const Record& now, const Record& then) {
  const std::vector<BaselineRecord> rows = compare_with_baseline(now, then);
  EXPECT_EQ(rows.size(), 1U) << "controls have no row";
  return rows.at(0);
}

TEST(Baseline, AMachineAtHalfItsClockIsNoChange) {
  const BaselineRecord result = row(run(2.0, 200.0), run(1.0, 100.0));
  EXPECT_EQ(result.reason, "");
  EXPECT_NEAR(*result.now_us, 100.1, 0.2);
  EXPECT_NEAR(*result.then_us, 50.1, 0.1);
  EXPECT_NEAR(result.change->estimate, 1.0, 0.001);
  EXPECT_EQ(result.verdict, "SAME");
}

TEST(Baseline, ASlowerStepIsFound) {
  EXPECT_EQ(row(run(1.1, 100.0), run(1.0, 100.0)).verdict, "SLOWER");
  EXPECT_EQ(row(run(1.0, 100.0), run(1.1, 100.0)).verdict, "FASTER");
  EXPECT_EQ(row(run(1.01, 100.0), run(1.0, 100.0)).verdict, "UNDECIDED");
}

TEST(Baseline, TheWiderBandOfTheTwoRunsHolds) {
  Record then = run(1.0, 100.0);
  then.pairs.push_back(
      {.base = "base", .of = "base/again", .kind = "control", .ratios = {{.delta = 0.2}}});
  EXPECT_EQ(row(run(1.1, 100.0), then).verdict, "SAME");
  then.arms.push_back(arm("other"));
  then.arms.back().batch = 64;
  then.pairs[0].base = "other";
  EXPECT_EQ(row(run(1.1, 100.0), then).verdict, "SLOWER") << "the control of another batch";
}

TEST(Baseline, FewProcessesDecideNothing) {
  const BaselineRecord result = row(run(2.0, 100.0, 1), run(1.0, 100.0));
  EXPECT_NEAR(result.change->estimate, 2.0, 0.01);
  EXPECT_FALSE(result.change->low);
  EXPECT_EQ(result.verdict, "UNDECIDED");
}

TEST(Baseline, RefusesWhatMayNotBeCompared) {
  const Record then = run(1.0, 100.0);
  Record now = then;
  now.environment[0].value = "B 7";
  EXPECT_EQ(row(now, then).reason, "the processor differs: B 7 now, A 9 at 3 GHz then");
  EXPECT_FALSE(row(now, then).change || row(now, then).now_us);
  now.environment.clear();
  EXPECT_EQ(row(now, then).reason, "the processor is not known on both sides");
  now = then;
  now.arms[0].threads = 2;
  EXPECT_EQ(row(now, then).reason, "the number of threads differs: 2 now, 1 then");
  now = then;
  now.arms[0].work_hash = "ff";
  EXPECT_EQ(row(now, then).reason, "hash of the work differs: ff and ab12");
  now = then;
  now.arms[0].protocol_hash = "ee";
  EXPECT_EQ(row(now, then).reason, "hash of the protocol differs: ee and cd34");
  now = then;
  now.arms[0].name = "new";
  EXPECT_EQ(row(now, then).reason, "the older record has no such arm");
  now = then;
  now.arms[0].throughput.clear();
  EXPECT_EQ(row(now, then).reason, "not measured now");
  EXPECT_EQ(row(then, now).reason, "not measured then");
}

TEST(Baseline, RefusesOtherRecordingsAndCopies) {
  Record then = run(1.0, 100.0);
  then.arms[0].recorded_as = "capture";
  Record now = then;
  EXPECT_EQ(row(now, then).reason, "");
  now.arms[0].recorded_as = "nodes";
  EXPECT_EQ(row(now, then).reason, "the way of recording differs: nodes now, capture then");
  EXPECT_FALSE(row(now, then).change || row(now, then).now_us);
  now.arms[0].recorded_as.clear();
  EXPECT_EQ(row(now, then).reason, "the way of recording differs: none now, capture then");
  now = then;
  now.arms[0].inputs_copied = "inside";
  EXPECT_EQ(row(now, then).reason, "where inputs are copied differs: inside now, outside then");
}

TEST(Baseline, OnlyCompleteRecordsGetAVerdict) {
  for (const char* status : {"void", "unequal-work", "exploratory", "inconclusive-environment"}) {
    const Record good = run(1.0, 100.0);
    Record bad = run(1.5, 100.0);
    bad.status = status;
    for (const BaselineRecord& result : {row(bad, good), row(good, bad)}) {
      EXPECT_EQ(result.verdict, "");
      EXPECT_FALSE(result.change);
    }
    EXPECT_EQ(row(bad, good).reason, std::string("the status is ") + status +
                                         " now and complete then; a verdict needs two complete "
                                         "records");
  }
}

// Forty arms of which one moved a little: by chance alone one in forty does.
TEST(Baseline, HolmRunsOverAllArms) {
  Record then = run(1.0, 100.0), now = run(1.0, 100.0);
  for (int i = 0; i < 40; ++i) {
    for (Record* record : {&then, &now}) {
      record->arms.push_back(record->arms[0]);
      record->arms.back().name = "arm" + std::to_string(i);
    }
  }
  for (Record* record : {&then, &now}) {
    for (std::size_t process = 0; process < 5; ++process) {
      const double step = (record == &now ? 1.04 : 1.0) * (1.0 + 0.015 * (process % 3));
      for (std::int64_t& elapsed : record->arms[5].throughput[process].elapsed_ns) {
        elapsed = std::llround(5e6 * step);
      }
    }
  }
  const std::vector<BaselineRecord> rows = compare_with_baseline(now, then);
  ASSERT_EQ(rows.size(), 41U);
  EXPECT_GT(*rows[4].change->low, 1.01);
  EXPECT_EQ(rows[4].verdict, "UNDECIDED");
  now.arms = {now.arms[5]};
  then.arms = {then.arms[5]};
  EXPECT_EQ(compare_with_baseline(now, then).at(0).verdict, "SLOWER");
}

}  // namespace
}  // namespace stepscope::test
