// The claims of an interval and of a verdict, counted: hundreds of comparisons on a simulated
// machine whose truth is known. Seeds are fixed, so a count never varies.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>

#include "bench/compare/analysis.h"
#include "tests/bench/compare/simulated.h"

namespace stepscope::test {
namespace {

// Fewer draws than a report makes: the ends of an interval move by a few per cent of its width.
constexpr AnalysisOptions kFewDraws{.draws = 1000};

// measuring.md's machine: processes differ by 2 %, slots by 5 %, and every twentieth is hit.
constexpr Noise kMachine{.process = 0.02, .slot = 0.05, .spike_share = 0.05};

double coverage(std::int64_t processes, std::int64_t blocks, double truth) {
  constexpr int kTrials = 500;
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Record record = simulated_record({.processes = processes, .blocks = blocks, .noise = kMachine},
                                     {truth}, static_cast<std::uint64_t>(trial) + 1);
    analyze(record, kFewDraws);
    const Interval& interval = *ratio_of(record, "arm0").time_ratio;
    covered += *interval.low <= truth && truth <= *interval.high ? 1 : 0;
  }
  return static_cast<double>(covered) / kTrials;
}

class Coverage : public testing::TestWithParam<std::pair<std::int64_t, std::int64_t>> {};

TEST_P(Coverage, PublishedIntervalHoldsTheTruthAsOftenAsItSays) {
  const auto [processes, blocks] = GetParam();
  const double share = coverage(processes, blocks, 0.8);
  RecordProperty("covered", std::to_string(share));
  EXPECT_GE(share, 0.92);
  EXPECT_LE(share, 0.99);
}
INSTANTIATE_TEST_SUITE_P(Processes, Coverage,
                         testing::Values(std::pair(5, 16), std::pair(10, 16), std::pair(5, 40),
                                         std::pair(10, 40)));

struct Verdicts {
  int faster = 0, slower = 0, same = 0, undecided = 0, voided = 0;
  int controls_without_one = 0;  // whose own interval excludes 1
};

Verdicts verdicts(std::int64_t processes, double truth, int trials) {
  Verdicts counts;
  for (int trial = 0; trial < trials; ++trial) {
    Record record = simulated_record({.processes = processes, .noise = kMachine}, {truth},
                                     static_cast<std::uint64_t>(trial) + 5000);
    analyze(record, kFewDraws);
    const Interval& control = *ratio_of(record, "base/again").time_ratio;
    counts.controls_without_one += *control.low > 1.0 || *control.high < 1.0 ? 1 : 0;
    const std::string& verdict = ratio_of(record, "arm0").verdict;
    counts.faster += verdict == "FASTER" ? 1 : 0;
    counts.slower += verdict == "SLOWER" ? 1 : 0;
    counts.same += verdict == "SAME" ? 1 : 0;
    counts.undecided += verdict == "UNDECIDED" ? 1 : 0;
    counts.voided += verdict == "void" ? 1 : 0;
  }
  return counts;
}

// The control is a pair of its own, as it is in a run.
TEST(Verdicts, EqualArmsAreSeldomCalledDifferent) {
  for (const std::int64_t processes : {5, 10}) {
    const Verdicts counts = verdicts(processes, 1.0, 200);
    EXPECT_LE(counts.faster + counts.slower, 2) << processes;
    // Nearly 5 % of 200: 0.5 to 9 %.
    EXPECT_GE(counts.controls_without_one, 1) << processes;
    EXPECT_LE(counts.controls_without_one, 18) << processes;
    EXPECT_GT(counts.same + counts.undecided, 150) << processes;
  }
}

TEST(Verdicts, TenPerCentAreMostlyFound) {
  EXPECT_GE(verdicts(5, 1.1, 100).slower, 75);  // most of the rest is void: this machine is noisy
  EXPECT_GE(verdicts(10, 1.1, 100).slower, 95);
  EXPECT_GE(verdicts(10, 1.0 / 1.1, 100).faster, 95);
}

}  // namespace
}  // namespace stepscope::test
