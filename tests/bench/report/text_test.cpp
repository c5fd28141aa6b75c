// What people read: tables, and numbers with units, that follow from the record.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/report/numbers.h"
#include "bench/report/renderers.h"
#include "bench/report/sentences.h"
#include "bench/report/tables.h"
#include "bench/report/wrap.h"
#include "tests/bench/report/records.h"

namespace stepscope {
namespace {

using test::arm_of;
using test::decided;
using test::ratio_of;
using test::squeezed;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Numbers, TimesHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(time_text(0.0), "0.00 ns");
  EXPECT_EQ(time_text(999.0), "999 ns");
  EXPECT_EQ(time_text(1234.0), "1.23 us");
  EXPECT_EQ(time_text(45'678'000.0), "45.7 ms");
  EXPECT_EQ(time_text(3.2e11), "320 s");
  EXPECT_EQ(bytes_text(2048.0), "2.00 KiB");
  EXPECT_EQ(bytes_text(5e9), "4.66 GiB");
  EXPECT_EQ(time_text(std::optional<double>{}), "not measured");
  EXPECT_EQ(range_text({1.0, {}, {}}), "");
}

TEST(ScheduleText, SaysWhatItTakesAndAffords) {
  ScheduleRecord schedule = *decided().schedule;
  EXPECT_EQ(
      schedule_text(schedule),
      "schedule: 10 processes of each backend, 16 blocks of each pair in each (ABBA or BAAB, "
      "seed 1), slots\n  of 5 ms or more\n"
      "takes about 158 s of 170 s; affords an answer fit to publish (10 processes or more)\n");
  schedule.claim = "working";
  EXPECT_TRUE(has(schedule_text(schedule), "affords a working answer (5 processes or more)\n"));
  schedule.claim = "exploratory";
  schedule.processes = 1;
  schedule.expected_s = 200.0;
  EXPECT_TRUE(has(schedule_text(schedule), "schedule: 1 process of each backend, "));
  EXPECT_TRUE(
      has(schedule_text(schedule),
          "takes about 200 s of 170 s; affords no verdict: exploratory (fewer than 5 processes)\n"
          "MORE THAN THE BUDGET: take fewer arms or batches, or a longer --budget\n"));
}

TEST(CompareText, AVerdictHasItsIntervalBothCostsAndP) {
  const std::string text = squeezed(compare_text(decided()));
  EXPECT_TRUE(has(text,
                  " 1 graph/off eager/off 0.900 0.896 .. 0.904 0.900 10.0 us 9.00 us <0.001 "
                  "FASTER\n"))
      << text;
  EXPECT_TRUE(has(text,
                  " 32 graph/off eager/off 0.998 0.994 .. 1.002 0.998 100 us 99.8 us 0.500 "
                  "SAME\n"))
      << text;
  EXPECT_TRUE(has(text,
                  "equal work: 1 of 1 gates passed before the timing, 1 of 1 gates passed "
                  "after the timing\n by: bits\n"))
      << text;
}

std::string repeated(const char* word, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) {
    if (i > 0) text += ' ';
    text += word;
  }
  return text;
}

TEST(Wrapped, BreaksAtBlanksAndIndentsByTwo) {
  EXPECT_EQ(wrapped(""), "");
  EXPECT_EQ(wrapped("short\n  lines\n"), "short\n  lines\n");
  EXPECT_EQ(wrapped(std::string(100, 'a')), std::string(100, 'a'));
  EXPECT_EQ(wrapped(std::string(100, 'a') + " b"), std::string(100, 'a') + "\n  b");
  EXPECT_EQ(wrapped(fmt::format("  {}", std::string(98, 'a')) + " b\nc\n"),
            fmt::format("  {}", std::string(98, 'a')) + "\n    b\nc\n");
  EXPECT_EQ(wrapped(std::string(120, 'a') + " b"), std::string(120, 'a') + "\n  b");
  EXPECT_EQ(wrapped(fmt::format("a {}", std::string(120, 'b'))),
            fmt::format("a\n  {}", std::string(120, 'b')));
  EXPECT_EQ(test::unwrapped(wrapped(repeated("word", 100))), repeated("word", 100));
}

TEST(CompareText, LinesFitATerminal) {
  Record record = decided();
  test::add_backend(record, decided("onednn"));
  const std::string long_text = repeated("word", 60);
  record.notes = {long_text};
  record.arms.front().flags = {long_text};
  record.arms.front().utilization.reason = long_text;
  record.gates.front().criterion = long_text;
  arm_of(record, "eigen/graph/on/32").passes = {
      {.name = "epilogue", .fusion = true, .notes = {long_text}}};
  ratio_of(record, "eigen/graph/off/32", "eigen/eager/off/32").verdict = "UNDECIDED";
  ratio_of(record, "eigen/graph/off/32", "eigen/eager/off/32").verdict_reason = long_text;
  record.schedule->processes = 1;
  record.schedule->expected_s = 1000;
  const std::string text = compare_text(record);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = text.find('\n', at);
    EXPECT_LE(next - at, 124U) << text.substr(at, next - at);
    if (text.substr(at, next - at).find("word") != std::string::npos) {
      EXPECT_LE(next - at, kProseWidth) << text.substr(at, next - at);
    }
    at = next + 1;
  }
  EXPECT_FALSE(has(text, "\033")) << "a verdict is a word, no colour";
}

// That of several processes was told before the first timing.
TEST(CompareText, TheScheduleIsThereForOneProcessAlone) {
  Record record = decided();
  EXPECT_FALSE(has(compare_text(record), "schedule:"));
  record.schedule->processes = 1;
  EXPECT_TRUE(has(compare_text(record), "schedule: 1 process of each backend"));
}

TEST(CompareText, AVoidRunSaysWhyOnceAndHasNoRatio) {
  Record record = decided();
  record.status = "void";
  record.status_reason = "A/A control: its floor is 7.1 %";
  for (PairRecord& pair : record.pairs) {
    pair.ratios.front().verdict = "void";
    pair.ratios.front().verdict_reason = record.status_reason;
    pair.break_even = BreakEven{120.0, {}, "not known: void"};
  }
  for (const char* status : {"void", "inconclusive-environment"}) {
    record.status = status;
    const std::string text = test::squeezed(compare_text(record));
    EXPECT_EQ(text.find("its floor"), text.rfind("its floor")) << text;
    EXPECT_TRUE(has(text, "its floor")) << text;
    EXPECT_TRUE(has(text, " 1 graph/off eager/off - - - 10.0 us 9.00 us - void\n")) << text;
    EXPECT_FALSE(has(text, "0.900")) << text;
    EXPECT_TRUE(has(text, "paid back, not known: void:\n")) << text;
    EXPECT_TRUE(has(text, " 1 graph/off eager/off 120 us -\n")) << text;
  }
}

// Its control does not hold; the other pairs of the run stand.
TEST(CompareText, AVoidPairKeepsItsTimesAndHasNoRatio) {
  Record record = decided();
  RatioRecord& ratio = ratio_of(record, "eigen/graph/off/1", "eigen/eager/off/1");
  ratio.verdict = "void";
  ratio.verdict_reason = "A/A control: its floor is 7.1 %";
  const std::string text = test::squeezed(compare_text(record));
  EXPECT_TRUE(has(text, " 1 graph/off eager/off - - - 10.0 us 9.00 us - void\n")) << text;
  EXPECT_TRUE(has(text, "void: A/A control: its floor is 7.1 %\n")) << text;
  EXPECT_FALSE(has(text, "0.900")) << text;
  EXPECT_TRUE(has(text, " 32 graph/off eager/off 0.998 0.994 .. 1.002 ")) << text;
}

// A sweep has dozens: their walls would hide the table.
TEST(CompareText, ManyReasonsAndFlagsAreToldByTheirNumber) {
  Record record = decided();
  const PairRecord pair = record.pairs.front();
  for (int i = 0; i < 13; ++i) {
    record.pairs.push_back(pair);
    RatioRecord& ratio = record.pairs.back().ratios.front();
    ratio.verdict = "UNDECIDED";
    ratio.verdict_reason = fmt::format("reason {}", i);
    ratio.time_ratio = i < 3 ? Interval{0.9, 0.89, 0.91} : Interval{0.99, 0.95, 1.03};
    ratio.delta = 0.01;
    record.arms.front().flags.emplace_back(i < 9 ? "drift: by 7 %" : "contended: by others");
  }
  const std::string text = test::unwrapped(compare_text(record));
  EXPECT_TRUE(has(text,
                  "UNDECIDED: 13 pairs: of 10 the interval reaches into the band of SAME or spans "
                  "it, of 3 it lies outside and Holm's correction does not uphold it; each in the "
                  "record, and in report.html and report.md of --out\n"))
      << text;
  EXPECT_TRUE(has(text, "flags: contended 4, drift 9; each in the record")) << text;
  EXPECT_FALSE(has(text, "reason 1")) << text;
  record.pairs.pop_back();
  record.arms.front().flags.pop_back();
  const std::string fewer = test::unwrapped(compare_text(record));
  EXPECT_TRUE(has(fewer, "reason 11\n")) << fewer;
  EXPECT_TRUE(has(fewer, "flag: eigen/eager/off/1: contended: by others\n")) << fewer;
}

TEST(CompareText, WithoutAnIntervalThereIsASpread) {
  Record record = decided();
  RatioRecord& ratio = ratio_of(record, "eigen/graph/off/1", "eigen/eager/off/1");
  ratio.time_ratio->low = ratio.time_ratio->high = {};
  ratio.p = ratio.p_holm = {};
  ratio.verdict = "exploratory";
  const std::string text = squeezed(compare_text(record));
  EXPECT_TRUE(has(text, "0.900 spread 0.898 .. 0.902 0.900 10.0 us 9.00 us - exploratory\n"))
      << text;
}

TEST(CompareText, SaysWhatWasNotMeasured) {
  Record record = decided();
  ArmRecord& arm = arm_of(record, "eigen/eager/off/1");
  arm.latency_summary = arm.throughput_summary = arm.input_copy_summary = {};
  arm.dispatch_empty_kernels.reset();
  const std::string text = squeezed(compare_text(record));
  EXPECT_TRUE(has(text, "eigen 1 eager/off not measured not measured\n")) << text;  // latency, copy
  EXPECT_TRUE(has(text, "eigen 1 eager/off not measured\n")) << text;
  EXPECT_TRUE(has(text, "queue delay, device busy time, idle gaps: not measured")) << text;
  EXPECT_TRUE(has(test::unwrapped(text),
                  "kernel-active fraction, occupancy, active SM fraction: not measured"))
      << text;
}

TEST(CompareText, UnequalWorkIsNamedWithItsArms) {
  Record record = decided();
  record.status = "unequal-work";
  record.status_reason = "see the gates";
  record.gates[0].passed = false;
  record.gates[0].detail = "w1 differs after step 1";
  for (ArmRecord& arm : record.arms) {
    arm.latency_summary = arm.throughput_summary = {};
    arm.dispatch_empty_kernels.reset();
  }
  record.pairs.clear();
  const std::string text = compare_text(record);
  EXPECT_TRUE(has(text, "status: unequal-work: see the gates\n")) << text;
  EXPECT_TRUE(has(test::unwrapped(text),
                  " UNEQUAL WORK before the timing, process 0: eigen batch 1, graph/off "
                  "against eager/off (bits): w1 differs after step 1\n"))
      << text;
  EXPECT_FALSE(has(text, "FASTER")) << text;
  EXPECT_FALSE(has(text, "latency")) << text;
}

TEST(CompareText, CountsVoidedBlocksByCauseAndShowsFlags) {
  Record record = decided();
  ProcessBlocks blocks;
  blocks.blocks.resize(4);
  blocks.blocks[0].void_cause = "sentinel: 100.0 us before and 110.0 us after";
  blocks.blocks[3].void_cause = "sentinel: 100.0 us before and 120.0 us after";
  record.pairs.front().processes.push_back(blocks);
  record.pairs.front().ratios.front().flags = {"order-effect"};
  record.arms.front().flags = {"drift", "contended"};
  const std::string text = compare_text(record);
  EXPECT_TRUE(has(text, "blocks voided, and kept in the record: 2 of 4 (sentinel: 2)\n")) << text;
  EXPECT_TRUE(has(text, "flag: eigen/eager/off/1: drift\nflag: eigen/eager/off/1: contended\n"))
      << text;
  EXPECT_TRUE(has(text, "flag: eigen/graph/off/1 over eigen/eager/off/1: order-effect\n")) << text;
}

TEST(CompareText, TheControlStandsApartFromTheVerdicts) {
  Record record = decided();
  ArmRecord again = test::make_arm("eigen", "eager", "off", 1, 10'010.0);
  again.name = "eigen/eager/off/1/again";
  again.role = "control";
  PairRecord control = test::make_pair_record(record.arms.front(), again, "SAME");
  control.kind = "control";
  record.arms.push_back(again);
  record.pairs.push_back(control);
  EXPECT_FALSE(has(terminal_text(verdict_table(record)), "control"));
  EXPECT_TRUE(has(squeezed(terminal_text(control_table(record))),
                  " 1 eager/off (control) eager/off 1.001 0.991 .. 1.011 1.001 10.0 us 10.0 us "
                  "0.500 holds\n"))
      << terminal_text(control_table(record));
  EXPECT_EQ(control_table(record).columns().back().key, "control_verdict");
  EXPECT_TRUE(has(control_table(record).title(), "shared among the controls of a run"));
  record.pairs.back().ratios.front().verdict = "void";
  EXPECT_FALSE(has(terminal_text(control_table(record)), "holds"));
  const std::string latency = terminal_text(latency_table(record));
  EXPECT_FALSE(has(latency, "again"));
  EXPECT_EQ(std::count(latency.begin(), latency.end(), '\n'), 9);
}

TEST(CompareText, PassesAndAblation) {
  Record record = decided();
  arm_of(record, "eigen/graph/on/32").passes = {
      {.name = "simplify", .changed = true, .ops_before = 18, .ops_after = 17, .notes = {}},
      {.name = "epilogue",
       .fusion = true,
       .changed = true,
       .ops_before = 17,
       .ops_after = 14,
       .intermediate_bytes_removed = 1024,
       .time_ns = 12'000,
       .notes = {}},
      {.name = "fold_sgd", .fusion = true, .notes = {"w1: momentum has no fold", "w2: the same"}}};
  const std::string plain = squeezed(compare_text(record));
  EXPECT_TRUE(has(plain, "what passes removed, at the largest batch of each backend:\n")) << plain;
  EXPECT_TRUE(has(plain, "eigen 32 on epilogue 17 3 1.00 KiB 12.0 us\n")) << plain;
  EXPECT_TRUE(has(plain, "\n eigen: fold_sgd: w1: momentum has no fold (and 1 more)\n")) << plain;

  const ArmRecord all = arm_of(record, "eigen/graph/on/32");
  ArmRecord without = test::make_arm("eigen", "graph", "-epilogue", 32, 88'000.0);
  without.counts.ops = without.counts.calls = 17;
  without.counts.intermediate_bytes = 4096;
  record.pairs.push_back(test::make_pair_record(all, without, "SLOWER"));
  record.arms.push_back(without);
  const std::string text = squeezed(compare_text(record));
  EXPECT_TRUE(has(text, "what each pass is worth, one left out at a time:\n")) << text;
  EXPECT_TRUE(has(text, "eigen 32 graph epilogue 3 3 1.00 KiB 1.102 1.092 .. 1.112 SLOWER\n"))
      << text;
  EXPECT_TRUE(has(text, "fold_sgd no effect here\n")) << text;
  EXPECT_EQ(ablation_table(record).columns()[7].key, "without_over_all") << "no column of cores";
  arm_of(record, "eigen/graph/on/32").passes.back().changed = true;
  EXPECT_TRUE(has(squeezed(compare_text(record)), "fold_sgd not measured\n"));
  EXPECT_TRUE(has(text, "\n eigen: fold_sgd: w1: momentum has no fold (and 1 more)\n")) << text;
  EXPECT_FALSE(has(text, "simplify")) << text;  // it runs always: nothing to leave out
  EXPECT_FALSE(has(text, "what passes removed")) << text;
  EXPECT_TRUE(has(test::unwrapped(text),
                  "worth most in mode graph is epilogue: without it at batch 32 SLOWER, 1.102 "
                  "of the fused 79.8 us"))
      << text;
}

// Near and far cores are never mixed: each is a row.
TEST(CompareText, AnAblationHasARowForEachStratum) {
  Record record = decided();
  ArmRecord& all = arm_of(record, "eigen/graph/on/32");
  all.passes = {{.name = "epilogue", .fusion = true, .changed = true, .notes = {}}};
  const ArmRecord without = test::make_arm("eigen", "graph", "-epilogue", 32, 88'000.0);
  PairRecord pair = test::make_pair_record(all, without, "SLOWER");
  pair.ratios.front().stratum = "near";
  pair.ratios.push_back(pair.ratios.front());
  pair.ratios.back().stratum = "far";
  pair.ratios.back().verdict = "SAME";
  record.pairs.push_back(pair);
  record.arms.push_back(without);
  const std::string text = squeezed(terminal_text(ablation_table(record)));
  EXPECT_TRUE(has(text, " near 1.102 1.092 .. 1.112 SLOWER\n")) << text;
  EXPECT_TRUE(has(text, " far 1.102 1.092 .. 1.112 SAME\n")) << text;
}

TEST(CompareText, OneOffCostsMemoryAndCalibration) {
  Record record = decided();
  ArmRecord& arm = arm_of(record, "eigen/graph/off/32");
  arm.memory.first = {
      .allocated = 1024, .reserved = 2048, .peak_allocated = 4096, .peak_reserved = 8192};
  arm.memory.steady = {
      .allocated = 1024, .reserved = 2048, .peak_allocated = 2048, .peak_reserved = 2048};
  arm.memory.owners = {{"plan arena", "stepscope", 2048}};
  arm.memory.process_rss = 1 << 20;
  arm.one_off.push_back(arm.one_off.front());
  arm.one_off.back().capture_ns = 5000;
  arm.one_off.back().compilations_in_steady = 3;
  record.calibration = {{"stamp_cost", "ns", 21.0, 20.0, 22.5, 100, "steady clock", ""},
                        {"fork_join", "ns", {}, {}, {}, 0, "", "one thread forks nothing"}};
  const std::string text = squeezed(compare_text(record));
  EXPECT_TRUE(has(text, "graph/off first step 1.00 KiB 2.00 KiB 4.00 KiB 8.00 KiB\n")) << text;
  EXPECT_TRUE(has(text, "graph/off after warm-up 1.00 KiB 2.00 KiB 2.00 KiB 2.00 KiB\n")) << text;
  EXPECT_TRUE(has(text, "graph/off plan arena stepscope 2.00 KiB\n")) << text;
  EXPECT_TRUE(has(text, "resident 1.00 MiB, at most not measured\n")) << text;
  EXPECT_TRUE(has(text, "graph/off 1.00 ms 200 us 5.00 us - - 30.0 us - 3\n")) << text;
  EXPECT_TRUE(has(text, " 1 graph/off eager/off 120 us 120 steps\n")) << text;
  EXPECT_TRUE(has(text, "stamp_cost 21.0 20.0 .. 22.5 ns steady clock\n")) << text;
  EXPECT_TRUE(has(text, "fork_join not measured ns one thread forks nothing\n")) << text;
}

TEST(CompareText, ABaselineIsNoSpeedUp) {
  Record record = decided();
  record.baseline = {{"eigen/graph/off/1", "", 9.0, 9.9, Interval{1.1, 1.05, 1.15}, "SLOWER"},
                     {"eigen/eager/off/1", "processor differs: A and B", {}, {}, {}, ""}};
  const std::string text = squeezed(compare_text(record));
  EXPECT_TRUE(has(text, "eigen/graph/off/1 9.00 us 9.90 us 1.100 1.050 .. 1.150 SLOWER\n")) << text;
  EXPECT_TRUE(
      has(text, "eigen/eager/off/1 not measured not measured not measured processor differs"))
      << text;
}

TEST(CompareText, EndsWithTheRecordsOwnSentences) {
  Record record = decided();
  record.summary = {"As it was said."};
  record.notes = {"by hand"};
  const std::string text = compare_text(record);
  EXPECT_TRUE(text.ends_with("\n\nnote: by hand\n\nAs it was said.\n")) << text;
  record.summary.clear();
  const std::string own = test::unwrapped(compare_text(record));
  EXPECT_TRUE(own.ends_with("\n" + scope_sentence(record) + "\n")) << own;
}

TEST(CompareText, R_STA_7_NoRatioFollowsFromMinima) {
  const Record record = decided();
  Record other = record;
  for (ArmRecord& arm : other.arms)
    arm.latency_summary.min_ns = arm.throughput_summary.min_ns = 1.0;
  EXPECT_EQ(csv(verdict_table(other)), csv(verdict_table(record)));
  EXPECT_EQ(csv(break_even_table(other)), csv(break_even_table(record)));
  const std::string latency = squeezed(terminal_text(latency_table(other)));
  EXPECT_TRUE(has(latency, "arm median quartiles least .. most outliers")) << latency;
  EXPECT_TRUE(has(latency, "eigen 1 eager/off 10.0 us 9.90 us .. 10.1 us 1.00 ns .. 30.0 us"))
      << latency;
}

TEST(CompareText, CountsAreThreeNumbersAndByPhase) {
  const std::string text = squeezed(compare_text(decided()));
  // ops, reorders, submissions, replays, nodes, calls, by library, its flops, look-ups
  EXPECT_TRUE(has(text, "eigen 32 graph/on 14 0 1 1 14 14 5 98.7 % 0\n")) << text;
  EXPECT_TRUE(has(text, "eigen 32 eager/off 17 0 17 0 0 17 5 98.7 % 17\n")) << text;
  EXPECT_TRUE(has(text, "calls of a step by phase, at the largest batch of each backend:\n"))
      << text;
  EXPECT_TRUE(has(text,
                  "eigen 32 off eager, graph forward 9 9 2 7\n"
                  "eigen 32 off eager, graph update 8 8 3 5\n"))
      << text;
}

// The puzzle: 1,875 graph launches in an epoch of 1,500 steps, and 60,000 / 32 is 1,875 too.
TEST(Submissions, R_CNT_1_EqualTotalsOfOtherActivitiesReadDifferently) {
  const std::vector<SubmissionRecord> split{{.activity = "training",
                                             .steps = 1500,
                                             .submissions = 1500,
                                             .graph_launches = 1500,
                                             .least = 1,
                                             .most = 1,
                                             .median = 1},
                                            {.activity = "validation",
                                             .steps = 375,
                                             .submissions = 375,
                                             .graph_launches = 375,
                                             .least = 1,
                                             .most = 1,
                                             .median = 1}};
  const std::vector<SubmissionRecord> whole{{.activity = "training",
                                             .steps = 1875,
                                             .submissions = 1875,
                                             .graph_launches = 1875,
                                             .least = 1,
                                             .most = 1,
                                             .median = 1}};
  EXPECT_EQ(squeezed(terminal_text(submissions_table(split))),
            "submissions by activity:\n"
            "activity steps submissions replays least per step median most\n"
            "---------- ----- ----------- ------- -------------- ------ ----\n"
            "training 1500 1500 1500 1 1 1\n"
            "validation 375 375 375 1 1 1\n");
  EXPECT_TRUE(
      has(squeezed(terminal_text(submissions_table(whole))), "training 1875 1875 1875 1 1 1\n"));
  EXPECT_NE(csv(submissions_table(split)), csv(submissions_table(whole)));
  EXPECT_FALSE(has(csv(submissions_table(split)), "1875")) << "no total over activities";
  EXPECT_EQ(terminal_text(submissions_table(std::vector<SubmissionRecord>{})), "");
}

TEST(EpochRow, HasNoAccuracyWhereThereIsNone) {
  EpochRecord epoch{
      .epoch = 1, .training_loss = 0.5, .validation_loss = 0.25, .partial_policy = {}};
  EXPECT_NE(epoch_row(epoch).find("  0.50000    0.25000         -  "), std::string::npos)
      << epoch_row(epoch);
  epoch.validation_accuracy = 0.0;
  EXPECT_NE(epoch_row(epoch).find("  0.25000     0.00%  "), std::string::npos) << epoch_row(epoch);
  EXPECT_EQ(epoch_row(epoch).size(), epoch_header().size());
}

}  // namespace
}  // namespace stepscope
