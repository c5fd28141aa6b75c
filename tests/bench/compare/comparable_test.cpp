// Ratios that are refused, each with the fact and both values.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/comparable.h"

#include <gtest/gtest.h>

#include "bench/compare/analysis.h"
#include "tests/bench/compare/simulated.h"

namespace stepscope::test {
namespace {

struct Two {
  Record record;
  ArmRecord a = arm("a"), b = arm("b");

  Two() {
    record.experiment_id = "one";
    for (ArmRecord* arm : {&a, &b}) {
      arm->work.emplace_back("updates", "yes");
      arm->work.emplace_back("computes_loss", "yes");
      arm->throughput = {{.method = "throughput"}};
    }
  }
  std::string why() const { return why_no_ratio(record, a, record, b); }
};

void set(Facts& facts, const std::string& name, const std::string& value) {
  for (auto& [fact, old] : facts) {
    if (fact == name) old = value;
  }
}

TEST(Comparable, EqualArmsAre) { EXPECT_EQ(Two().why(), ""); }

// A script that only made gradients against one that updated its weights.
TEST(Comparable, R_EQU_3_WithoutAnUpdate) {
  Two two;
  set(two.b.work, "updates", "no");
  two.b.work_hash = "other";
  EXPECT_EQ(two.why(), "work: updates differs: yes and no");
}

TEST(Comparable, R_EQU_3_EachFactOfTheWork) {
  Two two;
  two.b.work.emplace_back("validation", "each epoch");
  EXPECT_EQ(two.why(), "work: validation differs: not stated and each epoch");
  two = Two();
  two.b.work_hash = "ff00";
  EXPECT_EQ(two.why(), "hash of the work differs: ab12 and ff00");
}

TEST(Comparable, R_EQU_6_LossOnOneSide) {
  Two two;
  set(two.a.work, "computes_loss", "no");
  EXPECT_EQ(two.why(), "work: computes_loss differs: no and yes");
}

// Of planned, which copies outside, and a graph that copies inside: not the mode alone differs.
TEST(Comparable, InputsCopiedElsewhere) {
  Two two;
  two.b.recorded_as = "capture";
  EXPECT_EQ(two.why(), "");  // that is what the mode is
  two.b.inputs_copied = "inside";
  EXPECT_EQ(two.why(),
            "where inputs are copied, of the recording, differs: outside and inside; a ratio of "
            "the two would not be that of their modes alone");
  two.a.inputs_copied = "inside";
  EXPECT_EQ(two.why(), "");
}

// Nobody is told that the work was unequal, and other pairs keep their verdicts.
TEST(Comparable, CopiesElsewhereAreNoUnequalWork) {
  Record record = simulated_record({}, {0.5, 2.0}, 1);
  for (ArmRecord& arm : record.arms) {
    if (arm.name == "arm1") arm.inputs_copied = "inside";
  }
  analyze(record);
  EXPECT_EQ(record.status, "complete");
  EXPECT_EQ(ratio_of(record, "arm0").verdict, "FASTER");
  EXPECT_TRUE(ratio_of(record, "arm1").reason.starts_with("where inputs are copied"));
  EXPECT_FALSE(ratio_of(record, "arm1").time_ratio);
}

// 48,000 images at 256: 187 steps and 128 images dropped, or 188 steps.
TEST(Comparable, R_EQU_5_PartialBatchDropped) {
  Two two;
  two.a.partial_policy = "drop";
  two.a.steps = 187;
  two.a.samples_seen = 47'872;
  two.a.samples_dropped = 128;
  two.b.partial_policy = "second_plan";
  two.b.steps = 188;
  two.b.samples_seen = 48'000;
  two.b.samples_dropped = 0;
  EXPECT_EQ(two.why(), "partial batches differs: drop and second_plan");
  two.b.partial_policy = "drop";
  EXPECT_EQ(two.why(), "steps of an epoch differs: 187 and 188");
  two.b.steps = 187;
  EXPECT_EQ(two.why(), "samples seen in an epoch differs: 47872 and 48000");
  two.b.samples_seen = 47'872;
  EXPECT_EQ(two.why(), "samples dropped in an epoch differs: 128 and 0");
}

TEST(Comparable, R_EQU_8_R_SWP_4_OtherBatchSizes) {
  Two two;
  two.b.batch = 64;
  EXPECT_EQ(two.why(),
            "batch size differs: 32 and 64; the size changes what is learned, so these are two "
            "different pieces of work");
}

TEST(Comparable, R_EQU_10_OtherElementTypes) {
  Two two;
  set(two.b.work, "dtype", "bf16");
  EXPECT_EQ(two.why(), "work: dtype differs: f32 and bf16");
}

// Document U: 6.26 s of a sweep in NumPy over 0.14 s of training alone in JAX are no factor of 45.
TEST(Comparable, R_EQU_4_TimesOfTwoExperiments) {
  Record keras, jax;
  keras.experiment_id = "numpy sweep, with validation";
  jax.experiment_id = "jax, training only";
  ArmRecord a = arm("numpy"), b = arm("jax");
  a.throughput = {{.method = "throughput", .elapsed_ns = {6'260'000'000}}};
  b.throughput = {{.method = "throughput", .elapsed_ns = {140'000'000}}};
  EXPECT_EQ(why_no_ratio(keras, a, jax, b),
            "experiment differs: numpy sweep, with validation and jax, training only");
}

TEST(Comparable, R_EQU_2_SubmittedOnly) {
  Two two;
  two.b.throughput[0].covers = "submitted-only";
  EXPECT_EQ(two.why(),
            "b covers submitted-only, not complete: work may have run on after the last stamp");
}

TEST(Comparable, R_STA_11_R_EQU_9_OtherMethods) {
  Two two;
  two.b.throughput[0].method = "latency";
  EXPECT_EQ(two.why(), "method differs: throughput and latency");
}

// Even against itself.
TEST(Comparable, R_SYN_6_InstrumentedTimesNeverGetARatio) {
  Two two;
  two.a.throughput[0].method = two.b.throughput[0].method = "instrumented";
  EXPECT_EQ(two.why(),
            "a was measured by the method instrumented, which waits for each operation: no ratio "
            "of speed");
}

TEST(Comparable, R_PHA_9_WhatTheIntervalIncludes) {
  Two two;
  two.a.includes = {"transfer", "validation"};
  two.b.includes = {"transfer"};
  EXPECT_EQ(two.why(), "what is timed beside the step differs: transfer + validation and transfer");
  two.b.includes = {"validation", "transfer"};
  EXPECT_EQ(two.why(), "");
  two.a.includes = two.b.includes = {};
  two.a.scope = "pipeline";
  EXPECT_EQ(two.why(), "scope differs: pipeline and step-only");
}

TEST(Comparable, R_PHA_12_AResumedRunUnderAnotherProtocol) {
  Two two;
  Record resumed = two.record;
  two.record.protocol = {{"warm_up", "10 steps"}, {"least_slot_ms", "5"}};
  resumed.protocol = {{"warm_up", "10 steps"}, {"least_slot_ms", "1"}};
  EXPECT_EQ(why_no_ratio(two.record, two.a, resumed, two.b),
            "protocol: least_slot_ms differs: 5 and 1");
  two.b.protocol_hash = "0000";
  EXPECT_EQ(two.why(), "hash of the protocol differs: cd34 and 0000");
}

// A peer has no table of choices: not a difference, and its hash is then another one.
TEST(Comparable, NotApplicableEqualsAnything) {
  Two two;
  two.a.work.emplace_back("choices", "a table");
  two.b.work.emplace_back("choices", "not applicable");
  two.b.work_hash = "other";
  EXPECT_EQ(two.why(), "");
  set(two.b.work, "updates", "no");
  EXPECT_EQ(two.why(), "work: updates differs: yes and no");
}

// In a record: no estimate, a reason, and a status that says it.
TEST(Comparable, UnequalWorkHasNoRatioInTheRecord) {
  Record record = simulated_record({}, {1.2, 1.2}, 1);
  set(record.arms[2].work, "dtype", "bf16");
  analyze(record);
  const RatioRecord& refused = ratio_of(record, "arm0");
  EXPECT_FALSE(refused.time_ratio || refused.ratio_of_medians);
  EXPECT_EQ(refused.reason, "work: dtype differs: f32 and bf16");
  EXPECT_EQ(refused.verdict, "void");
  EXPECT_EQ(ratio_of(record, "arm1").verdict, "SLOWER");
  EXPECT_EQ(record.status, "unequal-work");
  EXPECT_EQ(record.status_reason, "base and arm0: work: dtype differs: f32 and bf16");
  EXPECT_EQ(record.pairs[1].break_even->text, "not known: work: dtype differs: f32 and bf16");
}

TEST(Comparable, AFailedGateLeavesNoRatioAtItsBatch) {
  Record record = simulated_record({}, {1.2}, 1);
  record.gates.push_back({.when = "after",
                          .backend = "eigen",
                          .mode = "graph",
                          .fusion = "on",
                          .batch = 32,
                          .detail = "loss of step 3 is 1.5, expected 1.25"});
  analyze(record);
  EXPECT_EQ(record.status, "unequal-work");
  EXPECT_EQ(ratio_of(record, "arm0").reason,
            "the gate after the timing failed for eigen graph on batch 32: loss of step 3 is 1.5, "
            "expected 1.25");
  record.gates[0].batch = 64;
  analyze(record);
  EXPECT_EQ(ratio_of(record, "arm0").reason, "");
}

// Also one of the pilot, after which nothing is timed; also in a run that is void.
TEST(Comparable, AFailedGateAnywhereIsUnequalWork) {
  Record record;
  record.gates.push_back({.when = "before", .passed = true});
  record.gates.push_back({.when = "before",
                          .backend = "eigen",
                          .mode = "graph",
                          .fusion = "on",
                          .batch = 64,
                          .detail = "bits differ"});
  const char* reason =
      "the gate before the timing failed for eigen graph on "
      "batch 64: bits differ";
  analyze(record);
  EXPECT_EQ(record.status, "unequal-work");
  EXPECT_EQ(record.status_reason, reason);
  Record noisy = simulated_record({.noise = {.sentinel = 0.5}}, {1.2}, 1);
  noisy.gates = record.gates;
  analyze(noisy);
  EXPECT_EQ(noisy.status, "unequal-work");
  EXPECT_EQ(noisy.status_reason, reason);
  EXPECT_EQ(ratio_of(noisy, "arm0").verdict, "void");
}

}  // namespace
}  // namespace stepscope::test
