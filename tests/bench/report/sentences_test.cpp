// What a comparison says in plain words, for each way in which it can end.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/sentences.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/bench/report/records.h"

namespace stepscope {
namespace {

using test::arm_of;
using test::decided;
using test::ratio_of;

constexpr const char* kScope =
    "All of this holds only for mlp:784-128-10 (sgd, f32) on data generated (seed 1), with eigen "
    "3.4.0, 1 thread, on Model X, built by g++ 12.2.0; ";

std::string scope_of(const char* end) { return fmt::format("{}{}", kScope, end); }

std::string all_of(const Record& record) {
  return fmt::format("{}", fmt::join(sentences(record), "\n"));
}

bool says(const Record& record, std::string_view part) {
  return all_of(record).find(part) != std::string::npos;
}

void set_verdicts(Record& record, const char* verdict, const char* reason) {
  for (PairRecord& pair : record.pairs) {
    for (RatioRecord& ratio : pair.ratios) {
      ratio.verdict = verdict;
      ratio.verdict_reason = reason;
    }
  }
}

TEST(Sentences, GraphThatPaysUpToABatch) {
  EXPECT_EQ(
      sentences(decided()),
      (std::vector<std::string>{
          "On eigen, eager dispatch alone takes 850 ns a step at batch 1 (50.0 ns per op; 8.5 % of "
          "a step of 10.0 us in throughput), 850 ns a step at batch 32 (50.0 ns per op; 0.8 % of a "
          "step of 100 us in throughput).",
          "On eigen, graph hands over 1 submission a step in place of 17: at batch 1 FASTER, 0.900 "
          "of eager's 10.0 us (95 %: 0.896 .. 0.904); at batch 32 SAME, 0.998 of eager's 100 us "
          "(95 %: 0.994 .. 1.002); crossover batch: 32, it does not pay from there on; break-even: "
          "120 steps at batch 1, never at batch 32.",
          "On eigen, fusion removes 3 of 17 ops and 1.00 KiB of 4.00 KiB of intermediates (batch "
          "32); in mode graph at batch 1 FASTER, 0.800 of the unfused 9.00 us (95 %: 0.790 .. "
          "0.810); at batch 32 FASTER, 0.800 of the unfused 99.8 us (95 %: 0.790 .. 0.810).",
          scope_of("10 processes of each backend, enough to publish.")}));
}

TEST(Sentences, GraphThatNeverPays) {
  Record record = decided();
  for (const char* batch : {"1", "32"}) {
    RatioRecord& ratio = ratio_of(record, fmt::format("eigen/graph/off/{}", batch),
                                  fmt::format("eigen/eager/off/{}", batch));
    ratio.verdict = "SLOWER";
    ratio.time_ratio = Interval{1.1, 1.05, 1.15};
  }
  EXPECT_TRUE(says(record, "at batch 1 SLOWER, 1.100 of eager's 10.0 us (95 %: 1.050 .. 1.150)"))
      << all_of(record);
  EXPECT_TRUE(says(record, "; crossover batch: never, it pays at no batch measured"))
      << all_of(record);
  for (PairRecord& pair : record.pairs) pair.break_even = BreakEven{5.0, {}, "never"};
  EXPECT_TRUE(says(record, "break-even: never at batch 1 and 32.")) << all_of(record);
}

TEST(Sentences, GraphThatAlwaysPaysAndPaysBackAtOnce) {
  Record record = decided();
  ratio_of(record, "eigen/graph/off/32", "eigen/eager/off/32").verdict = "FASTER";
  for (PairRecord& pair : record.pairs) pair.break_even = BreakEven{-5.0, 0.0, "at once"};
  EXPECT_TRUE(says(record,
                   "; crossover batch: never, it pays at every batch measured; break-even: at once "
                   "at batch 1 and 32."))
      << all_of(record);
}

TEST(Sentences, AnUndecidedPairSaysWhyAndLeavesTheCrossoverOpen) {
  Record record = decided();
  RatioRecord& ratio = ratio_of(record, "eigen/graph/off/32", "eigen/eager/off/32");
  ratio.verdict = "UNDECIDED";
  ratio.verdict_reason = "0.960 to 1.040 lies neither inside nor outside the band of SAME";
  ratio.time_ratio = Interval{1.0, 0.96, 1.04};
  EXPECT_TRUE(
      says(record,
           "at batch 32 UNDECIDED, 1.000 of eager's 100 us (95 %: 0.960 .. 1.040), 0.960 "
           "to 1.040 lies neither inside nor outside the band of SAME; crossover batch: not "
           "known, UNDECIDED at 32;"))
      << all_of(record);
  set_verdicts(record, "UNDECIDED", "noise");
  EXPECT_TRUE(says(record, "crossover batch: not known, nothing is decided")) << all_of(record);
}

TEST(Sentences, AQuickRunHasASpreadAndNoVerdict) {
  Record record = decided();
  record.status = "exploratory";
  record.schedule->processes = 1;
  record.schedule->claim = "exploratory";
  set_verdicts(record, "exploratory", "1 process; a verdict needs 5");
  for (PairRecord& pair : record.pairs) {
    for (RatioRecord& ratio : pair.ratios) ratio.time_ratio->low = ratio.time_ratio->high = {};
  }
  EXPECT_TRUE(says(record,
                   "at batch 1 exploratory, 0.900 of eager's 10.0 us (half of the blocks: 0.898 .. "
                   "0.902); "))
      << all_of(record);
  EXPECT_FALSE(says(record, "crossover")) << all_of(record);
  EXPECT_FALSE(says(record, "95 %")) << all_of(record);
  EXPECT_EQ(sentences(record).back(),
            scope_of("one process of each backend: exploratory, without interval or verdict."));
}

TEST(Sentences, AVoidRunGivesNoRatio) {
  Record record = decided();
  record.status = "void";
  record.status_reason = "A/A control eigen/eager/off/1/again: its floor is 7.1 %, above 5 %";
  EXPECT_EQ(
      sentences(record),
      (std::vector<std::string>{
          "The run is void: A/A control eigen/eager/off/1/again: its floor is 7.1 %, above 5 "
          "%; no ratio of it may be quoted, run it again.",
          "What time does not decide: on eigen, graph hands over 1 submission a step in place "
          "of 17; fusion removes 3 of 17 ops and 1.00 KiB of 4.00 KiB of intermediates "
          "(batch 32).",
          scope_of("10 processes of each backend, enough to publish.")}));
  record.status = "inconclusive-environment";
  EXPECT_TRUE(says(record, "The machine is too restless to decide: A/A control")) << all_of(record);
  EXPECT_FALSE(says(record, "0.900")) << all_of(record);
}

TEST(Sentences, UnequalWorkGivesNoRatio) {
  Record record = decided();
  record.status = "unequal-work";
  record.gates.front().passed = false;
  record.gates.front().detail = "w1 differs after step 1: 0.25 and 0.5";
  EXPECT_TRUE(says(record,
                   "Some pairs have no ratio, since their work was not equal: on eigen at "
                   "batch 1, graph/off against eager/off, w1 differs after step 1: 0.25 and "
                   "0.5.\nOn eigen, eager dispatch"))
      << all_of(record);
  for (PairRecord& pair : record.pairs) pair.ratios = {{.reason = "unequal work"}};
  EXPECT_EQ(sentences(record).front(),
            "The arms did unequal work, so there is no ratio: on eigen at batch 1, graph/off "
            "against eager/off, w1 differs after step 1: 0.25 and 0.5.");
  EXPECT_EQ(sentences(record).size(), 2U);
  record.gates.clear();
  record.status_reason = "loss: computed on one side";
  EXPECT_EQ(sentences(record).front(),
            "The arms did unequal work, so there is no ratio: loss: computed on one side.");
}

TEST(Sentences, APlanHasNoNumbers) {
  Record record;
  record.work = decided().work;
  record.status = "not-run";
  record.status_reason = "no CUDA device";
  EXPECT_EQ(sentences(record),
            (std::vector<std::string>{"Nothing was run: no CUDA device; there are no numbers."}));
}

TEST(Sentences, NullIsDispatchAndNothingElse) {
  Record record = decided("null");
  record.backends = {{"null", {}}};
  for (ArmRecord& arm : record.arms) {
    arm.dispatch_empty_kernels->median_ns = 1700.0;  // not latency, which waits for each step
  }
  EXPECT_EQ(sentences(record).front(),
            "On null, which computes nothing, a step is dispatch: eager dispatch alone takes 1.70 "
            "us a step at batch 1 (100 ns per op), 1.70 us a step at batch 32 (100 ns per op).");
  EXPECT_TRUE(says(record, ", with null, 1 thread, on Model X")) << all_of(record);
}

TEST(Sentences, TwoBackendsAreFiveSentencesAtMost) {
  Record record = decided();
  test::add_backend(record, decided("onednn"));
  const std::vector<std::string> said = sentences(record);
  ASSERT_EQ(said.size(), 5U);
  EXPECT_TRUE(said[1].starts_with("On eigen, graph hands over 1 submission")) << said[1];
  EXPECT_NE(said[1].find("; on onednn, graph hands over 1 submission"), std::string::npos)
      << said[1];
  EXPECT_EQ(said[3],
            "Between backends, onednn against eigen in graph, fusion off: at batch 1 SLOWER, 1.000 "
            "of eigen's 9.00 us (95 %: 0.990 .. 1.010); at batch 32 FASTER, 1.000 of eigen's 99.8 "
            "us (95 %: 0.990 .. 1.010); crossover batch: 32, it pays from there on.");
  EXPECT_NE(said[4].find("with eigen 3.4.0 and onednn 3.4.0"), std::string::npos) << said[4];
}

TEST(Sentences, ARatioIsNeverToldWithoutWhatTheBaseCosts) {
  Record record = decided();
  ratio_of(record, "eigen/graph/off/1", "eigen/eager/off/1").base_us.reset();
  EXPECT_TRUE(says(record, "at batch 1 no ratio: not measured")) << all_of(record);
  EXPECT_FALSE(says(record, "0.900")) << all_of(record);
  RatioRecord refused;
  refused.reason = "batch differs: 1 and 32";
  ratio_of(record, "eigen/graph/off/1", "eigen/eager/off/1") = refused;
  EXPECT_TRUE(says(record, "at batch 1 no ratio: batch differs: 1 and 32")) << all_of(record);
}

TEST(Sentences, NearAndFarCoresAreToldApart) {
  Record record = decided();
  PairRecord& pair = record.pairs.front();
  pair.ratios.push_back(pair.ratios.front());
  pair.ratios[0].stratum = "near";
  pair.ratios[1].stratum = "far";
  pair.ratios[1].verdict = "SAME";
  EXPECT_TRUE(says(record, "at batch 1, cores near, FASTER")) << all_of(record);
  EXPECT_TRUE(says(record, "at batch 1, cores far, SAME")) << all_of(record);
  // Neither answer is that of batch 1.
  EXPECT_TRUE(says(record, "crossover batch: not known, UNDECIDED at 1")) << all_of(record);
}

TEST(Sentences, FusionThatAddsSaysBothNumbers) {
  Record record = decided();
  for (const char* name : {"eigen/graph/on/1", "eigen/graph/on/32"}) {
    arm_of(record, name).counts.ops = 19;
    arm_of(record, name).counts.intermediate_bytes = 5120;
  }
  EXPECT_TRUE(says(record,
                   "fusion turns 17 ops into 19 and 4.00 KiB of intermediates into 5.00 "
                   "KiB (batch 32); in mode graph at batch 1 FASTER"))
      << all_of(record);
}

TEST(Sentences, InAnAblationTheFusedArmIsTheBase) {
  Record record = decided();
  record.pairs = {test::make_pair_record(arm_of(record, "eigen/graph/on/32"),
                                         arm_of(record, "eigen/graph/off/32"), "SLOWER")};
  EXPECT_TRUE(says(record,
                   "fusion (all passes together) removes 3 of 17 ops and 1.00 KiB of 4.00 KiB of "
                   "intermediates (batch 32); without it, in mode graph at batch 32 SLOWER, 1.250 "
                   "of the fused 79.8 us"))
      << all_of(record);
}

// Dispatch is timed in blocks of steps: its share is one of a step timed so.
TEST(Sentences, DispatchIsAShareOfAStepInThroughput) {
  Record record = decided();
  ArmRecord& arm = arm_of(record, "eigen/eager/off/1");
  arm.throughput_summary.median_ns = 8500.0;
  EXPECT_TRUE(says(record, "(50.0 ns per op; 10.0 % of a step of 8.50 us in throughput)"))
      << all_of(record);
  arm.throughput_summary.median_ns = 800.0;
  EXPECT_TRUE(says(record,
                   "850 ns a step at batch 1 (50.0 ns per op; cannot be told from a step of 800 ns "
                   "in throughput), "))
      << all_of(record);
  arm.throughput_summary = {};
  EXPECT_TRUE(says(record, "850 ns a step at batch 1 (50.0 ns per op), ")) << all_of(record);
  // Another mode's is not told as eager's.
  arm.dispatch_empty_kernels.reset();
  EXPECT_TRUE(says(record, "On eigen, eager dispatch alone takes 850 ns a step at batch 32"))
      << all_of(record);
}

TEST(Sentences, WhyABreakEvenIsNotKnownIsSaidOnce) {
  Record record = decided();
  for (PairRecord& pair : record.pairs)
    pair.break_even = BreakEven{5.0, {}, "not known: one process"};
  EXPECT_TRUE(says(record, "; break-even: not known: one process.")) << all_of(record);
}

TEST(Sentences, ACrossoverNamesEveryOpenBatch) {
  Record record = decided();
  for (const std::int64_t batch : {64, 128}) {
    const ArmRecord base = test::make_arm("eigen", "eager", "off", batch, 200'000.0);
    const ArmRecord of = test::make_arm("eigen", "graph", "off", batch, 200'000.0);
    record.pairs.push_back(test::make_pair_record(base, of, "UNDECIDED"));
    record.arms.push_back(base);
    record.arms.push_back(of);
  }
  EXPECT_TRUE(says(record,
                   "crossover batch: 32, it does not pay from there on (of those decided; "
                   "UNDECIDED at 64, 128)"))
      << all_of(record);
  ratio_of(record, "eigen/graph/off/32", "eigen/eager/off/32").verdict = "FASTER";
  EXPECT_TRUE(says(record, "crossover batch: not known, UNDECIDED at 64, 128;")) << all_of(record);
}

// The largest estimate is no verdict.
TEST(Sentences, APassIsWorthMostOnlyWhereAVerdictSaysSo) {
  Record record = decided();
  record.pairs.clear();
  const ArmRecord all = arm_of(record, "eigen/graph/on/32");
  arm_of(record, "eigen/graph/on/32").passes = {{.name = "epilogue", .fusion = true, .notes = {}},
                                                {.name = "fold_sgd", .fusion = true, .notes = {}}};
  for (const char* fusion : {"-epilogue", "-fold_sgd"}) {
    const ArmRecord without =
        test::make_arm("eigen", "graph", fusion, 32, fusion[1] == 'e' ? 88'000.0 : 82'000.0);
    record.pairs.push_back(test::make_pair_record(all, without, "UNDECIDED"));
    record.arms.push_back(without);
  }
  EXPECT_TRUE(says(record, "no pass could be told apart")) << all_of(record);
  EXPECT_FALSE(says(record, "worth most")) << all_of(record);
  ratio_of(record, "eigen/graph/-fold_sgd/32", all.name).verdict = "SLOWER";
  EXPECT_TRUE(says(record, "worth most in mode graph is fold_sgd: without it at batch 32 SLOWER"))
      << all_of(record);
}

TEST(Sentences, ManyBatchesAreToldByVerdict) {
  Record record = decided();
  for (const std::int64_t batch : {64, 128}) {
    const ArmRecord base = test::make_arm("eigen", "eager", "off", batch, 200'000.0);
    const ArmRecord of = test::make_arm("eigen", "graph", "off", batch, 200'000.0);
    record.pairs.push_back(test::make_pair_record(base, of, "SAME"));
    record.arms.push_back(base);
    record.arms.push_back(of);
  }
  arm_of(record, "eigen/eager/off/64").dispatch_empty_kernels->median_ns = 1700.0;
  EXPECT_TRUE(says(record,
                   "On eigen, eager dispatch alone takes 850 ns to 1.70 us a step (50.0 ns to 100 "
                   "ns per op): 8.5 % of a step in throughput at batch 1, 0.8 % at 32, 0.8 % at 64 "
                   "and 0.4 % at 128."))
      << all_of(record);
  EXPECT_TRUE(says(record,
                   "in place of 17: FASTER at batch 1 (0.900 of eager's 10.0 us); SAME at batch 32 "
                   "(0.998 of eager's 100 us), 64 (1.000 of eager's 200 us) and 128 (1.000 of "
                   "eager's 200 us); crossover batch: 32, "))
      << all_of(record);
  ratio_of(record, "eigen/graph/off/64", "eigen/eager/off/64").verdict = "void";
  ratio_of(record, "eigen/graph/off/128", "eigen/eager/off/128") = {.reason = "unequal work"};
  EXPECT_TRUE(says(record, "; void at batch 64; no ratio at batch 128; crossover"))
      << all_of(record);
}

TEST(Sentences, AVoidPairGivesNoRatio) {
  Record record = decided();
  RatioRecord& ratio = ratio_of(record, "eigen/graph/off/1", "eigen/eager/off/1");
  ratio.verdict = "void";
  ratio.verdict_reason = "A/A control eigen/eager/off/1/again: its floor is 7.1 %, above 5 %";
  EXPECT_TRUE(says(record,
                   "at batch 1 void: A/A control eigen/eager/off/1/again: its floor is 7.1 "
                   "%, above 5 %; at batch 32 SAME"))
      << all_of(record);
  EXPECT_FALSE(says(record, "0.900")) << all_of(record);
}

// FASTER at 1 and SAME at 32, with a batch between that has no verdict.
TEST(Sentences, ACrossoverMindsWhatIsVoid) {
  for (const char* verdict : {"void", "exploratory"}) {
    Record record = decided();
    const ArmRecord base = test::make_arm("eigen", "eager", "off", 8, 200'000.0);
    const ArmRecord of = test::make_arm("eigen", "graph", "off", 8, 200'000.0);
    record.pairs.push_back(test::make_pair_record(base, of, verdict));
    record.arms.push_back(base);
    record.arms.push_back(of);
    EXPECT_TRUE(says(record,
                     "crossover batch: above 1, and it does not pay from 32 on (of those decided; "
                     "no verdict at 8)"))
        << all_of(record);
    ratio_of(record, "eigen/graph/off/32", "eigen/eager/off/32").verdict = "FASTER";
    EXPECT_TRUE(says(record, "crossover batch: not known, no verdict at 8")) << all_of(record);
  }
}

// One arm has its control alone: no pair, and nothing unequal.
TEST(Sentences, WithoutAPairNothingIsUnequal) {
  Record record = decided();
  record.status = "exploratory";
  record.status_reason = "fewer than 5 processes: ratios and their spread, no verdict";
  record.pairs.clear();
  EXPECT_FALSE(says(record, "unequal")) << all_of(record);
  EXPECT_TRUE(says(record, "On eigen, eager dispatch alone takes")) << all_of(record);
}

TEST(Sentences, AShareThatWasMeasuredIsNotZero) {
  Record record = decided();
  arm_of(record, "eigen/eager/off/32").throughput_summary.median_ns = 5e6;
  EXPECT_TRUE(says(record, "; <0.1 % of a step of 5.00 ms in throughput)")) << all_of(record);
}

TEST(Sentences, ManyProcessesWithoutAVerdictAreNotTooFew) {
  Record record = decided();
  record.status = "exploratory";
  EXPECT_EQ(sentences(record).back(),
            scope_of("10 processes of each backend: exploratory, without a verdict."));
}

TEST(Sentences, R_ENV_3_ConclusionsNameTheLibrarySplitAndMachineTheyHoldFor) {
  Record record = decided();
  EXPECT_EQ(sentences(record).back(), scope_sentence(record));
  record.environment.front().value = "Model Y";
  record.work.data = "fashion-mnist";
  record.backends.front().second.front().second = "3.4.1";
  record.schedule->processes = 5;
  record.schedule->claim = "working";
  EXPECT_EQ(
      sentences(record).back(),
      "All of this holds only for mlp:784-128-10 (sgd, f32) on data fashion-mnist, with eigen "
      "3.4.1, 1 thread, on Model Y, built by g++ 12.2.0; 5 processes of each backend, enough "
      "for a working answer.");
}

TEST(Sentences, R_STA_7_TheMinimumIsNeverTheHeadline) {
  const Record record = decided();
  Record other = record;
  for (ArmRecord& arm : other.arms) {
    for (TimeSummary* time : {&arm.latency_summary, &arm.throughput_summary}) time->min_ns = 1.0;
    arm.dispatch_empty_kernels->min_ns = 1.0;
  }
  EXPECT_EQ(sentences(other), sentences(record));
}

}  // namespace
}  // namespace stepscope
