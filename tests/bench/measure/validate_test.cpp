// Each rule of a record: a good record has no problem, and one that breaks the rule has just that.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/validate.h"

#include <gtest/gtest.h>

#include <functional>

#include "bench/measure/sampler.h"
#include "tests/bench/record/sample_record.h"

namespace stepscope {
namespace {

using test::not_run_record;
using Problems = std::vector<std::string>;

Samples list(std::string_view method, std::string_view covers, std::int64_t count) {
  Samples samples;
  samples.method = method;
  samples.covers = covers;
  samples.steps_per_sample = method == method::kLatency ? 1 : 4;
  for (std::int64_t i = 0; i < count; ++i) {
    samples.start_ns.push_back(1000 * i);
    samples.elapsed_ns.push_back(400 + 7 * (i % 5));
  }
  return samples;
}

ArmRecord good_arm(const std::string& name) {
  ArmRecord arm;
  arm.name = name;
  arm.batch = 32;
  arm.work_hash = "work";
  arm.protocol_hash = "protocol";
  arm.includes = {"input_copy"};
  arm.latency = {list(method::kLatency, kComplete, 30)};
  arm.input_copy = arm.latency;
  arm.throughput = {list(method::kThroughput, kComplete, 30)};
  arm.submission = {list(method::kSubmission, kSubmittedOnly, 30)};
  arm.warmup = {list(method::kLatency, kComplete, 10)};
  arm.latency_summary = summarize(arm.latency);
  arm.input_copy_summary = summarize(arm.input_copy);
  arm.throughput_summary = summarize(arm.throughput);
  arm.memory.steady = {.allocated = 1, .reserved = 2, .peak_allocated = 3, .peak_reserved = 4};
  return arm;
}

// Two arms, a pair with one good block and one voided, a gate; all the validator looks at.
Record good_record() {
  Record record;
  record.protocol = {{"preset", "gpu-plan"}, {"repeat", "30"}, {"warm_up_steps", "10"}};
  record.environment = {{"known", "value", {}}, {"unknown", std::nullopt, "why"}};
  record.calibration.resize(2);
  record.calibration[0].value = 1.0;
  record.calibration[1].reason = "why";
  record.arms = {good_arm("a"), good_arm("b")};
  record.processes.resize(1);
  record.processes[0].sentinel_ns = {5, 5};
  GateRecord gate;
  gate.passed = true;
  record.gates = {gate};
  TimedBlock block;
  block.order = "ABBA";
  block.stratum = "single";
  TimedBlock voided = block;
  voided.void_cause = "sentinel";
  PairRecord pair;
  pair.base = "a";
  pair.of = "b";
  pair.processes.resize(1);
  pair.processes[0].blocks = {block, voided};
  pair.ratios.resize(1);
  pair.ratios[0].stratum = "single";
  pair.ratios[0].time_ratio = Interval{0.5, 0.4, 0.6};
  pair.ratios[0].base_us = Interval{5, 4, 6};
  pair.ratios[0].voided = 1;
  record.pairs = {pair};
  return record;
}

// Problems after a change of a good record.
Problems after(const std::function<void(Record&)>& change) {
  Record record = good_record();
  change(record);
  return problems(record);
}

TEST(Validate, AGoodRecordHasNoProblem) { EXPECT_EQ(problems(good_record()), Problems{}); }

TEST(Validate, R_CLK_5_NoSampleIsBelowZero) {
  EXPECT_EQ(after([](Record& r) { r.arms[0].submission[0].elapsed_ns[3] = -1; }),
            Problems{"arm a, submission of process 0: sample 3 is -1 ns, below zero"});
  EXPECT_EQ(after([](Record& r) { r.pairs[0].processes[0].blocks[1].slots[2].elapsed_ns = -7; }),
            Problems{"pair b / a, process 0: block 1: a slot is -7 ns, below zero"});
  EXPECT_EQ(after([](Record& r) { r.pairs[0].processes[0].blocks[0].sentinel_after_ns = -7; }),
            Problems{"pair b / a, process 0: block 0: a sentinel is below zero"});
  EXPECT_EQ(after([](Record& r) { r.processes[0].sentinel_ns[1] = -2; }),
            Problems{"process 0: a sentinel of -2 ns"});
  EXPECT_EQ(after([](Record& r) {
              r.arms[1].one_off.resize(1);
              r.arms[1].one_off[0].compile_ns = -3;
            }),
            Problems{"arm b: a one-off cost is -3 ns, below zero"});
}

TEST(Validate, ColumnsAreEquallyLongAndInTimeOrder) {
  EXPECT_EQ(after([](Record& r) { r.arms[0].submission[0].start_ns.pop_back(); }),
            Problems{"arm a, submission of process 0: 29 start stamps and 30 times"});
  EXPECT_EQ(after([](Record& r) { r.arms[0].warmup[0].start_ns[4] = 1; }),
            Problems{"arm a, warmup of process 0: start stamps are not in time order"});
  EXPECT_EQ(after([](Record& r) { r.pairs[0].processes[0].blocks[0].slots[0].start_ns = 5; }),
            Problems{"pair b / a, process 0: block 0: slots are not in time order"});
}

TEST(Validate, AListSaysWhatItIs) {
  EXPECT_EQ(after([](Record& r) { r.arms[0].latency[0].method = "throughput"; }),
            Problems{"arm a, latency of process 0: its method is 'throughput', not 'latency'"});
  EXPECT_EQ(after([](Record& r) { r.arms[0].throughput[0].covers = "submitted-only"; }),
            Problems{"arm a, throughput of process 0: it covers 'submitted-only', not 'complete'"});
  EXPECT_EQ(after([](Record& r) { r.arms[0].submission[0].steps_per_sample = 0; }),
            Problems{"arm a, submission of process 0: 0 steps a sample"});
}

TEST(Validate, R_STA_4_EveryListHasTheLengthOfTheProtocol) {
  EXPECT_EQ(
      after([](Record& r) { r.arms[0].submission = {list("submission", "submitted-only", 31)}; }),
      Problems{"arm a, submission of process 0: 31 samples, the protocol says 30"});
  EXPECT_EQ(after([](Record& r) { r.protocol[1].second = "31"; }).size(), 8U);
  // Warming up may take longer.
  EXPECT_EQ(after([](Record& r) { r.arms[0].warmup = {list("latency", "complete", 40)}; }),
            Problems{});
}

TEST(Validate, R_STA_3_TheGpuPlanHasTenWarmUpStepsAndThirtyRepeats) {
  const auto few = [](Record& r) {
    r.protocol = {{"preset", "gpu-plan"}};
    r.arms[0].warmup = {list("latency", "complete", 9)};
    r.arms[0].submission = {list("submission", "submitted-only", 29)};
  };
  EXPECT_EQ(after(few),
            (Problems{"arm a, submission of process 0: 29 samples, gpu-plan wants 30; fewer are "
                      "exploratory",
                      "arm a, warmup of process 0: 9 samples, gpu-plan wants 10; fewer are "
                      "exploratory"}));
  EXPECT_EQ(after([&](Record& r) {
              few(r);
              r.status = "exploratory";
              r.status_reason = "one process";
            }),
            Problems{});
  EXPECT_EQ(after([&](Record& r) {
              few(r);
              r.schedule.emplace().claim = "exploratory";
            }),
            Problems{});
  EXPECT_EQ(after([&](Record& r) {
              few(r);
              r.protocol = {{"preset", "lab-cpu"}};
            }),
            Problems{});
}

TEST(Validate, R_STA_5_ASummaryIsWhatItsListGives) {
  const auto changed = [](auto field, auto value) {
    return after([&](Record& r) { r.arms[0].throughput_summary.*field = value; });
  };
  EXPECT_EQ(changed(&TimeSummary::median_ns, 1.0),
            Problems{"arm a, throughput_summary: median_ns is 1, its lists give 103.5"});
  EXPECT_EQ(changed(&TimeSummary::q1_ns, 1.0).size(), 1U);
  EXPECT_EQ(changed(&TimeSummary::q3_ns, 1.0).size(), 1U);
  EXPECT_EQ(changed(&TimeSummary::min_ns, 1.0).size(), 1U);
  EXPECT_EQ(changed(&TimeSummary::max_ns, 1.0).size(), 1U);
  EXPECT_EQ(changed(&TimeSummary::mean_ns, 1.0).size(), 1U);
  EXPECT_EQ(changed(&TimeSummary::iqr_ns, 1.0).size(), 1U);
  EXPECT_EQ(changed(&TimeSummary::median_low_ns, std::optional(1.0)).size(), 1U);
  EXPECT_EQ(
      changed(&TimeSummary::median_high_ns, std::optional<double>()),
      Problems{"arm a, throughput_summary: the interval of the median is there for six samples "
               "or more, and only then"});
  // Of latency and input copies as well.
  EXPECT_EQ(after([](Record& r) { r.arms[1].latency_summary.median_ns += 1; }).size(), 1U);
  EXPECT_EQ(after([](Record& r) { r.arms[1].input_copy_summary.median_ns += 1; }).size(), 1U);
}

TEST(Validate, R_STA_8_EverySampleThatWasTakenIsKeptAndCounted) {
  EXPECT_EQ(after([](Record& r) { r.arms[0].throughput_summary.count = 29; }),
            Problems{"arm a, throughput_summary: it counts 29 samples, its lists hold 30"});
  EXPECT_EQ(after([](Record& r) { r.arms[0].latency_summary = {}; }),
            Problems{"arm a, latency_summary: it counts 0 samples, its lists hold 30"});
  EXPECT_EQ(
      after([](Record& r) { r.arms[0].throughput_summary.severe_outliers = 1; }),
      Problems{"arm a, throughput_summary: outliers are 0 mild and 1 severe, its lists give 0 "
               "and 0"});
  // A void needs its cause, and its block stays.
  EXPECT_EQ(after([](Record& r) { r.pairs[0].processes[0].blocks[1].void_cause = ""; }),
            Problems{"pair b / a: single: 1 voided blocks, 0 carry a cause"});
  EXPECT_EQ(after([](Record& r) { r.pairs[0].processes[0].blocks.pop_back(); }),
            Problems{"pair b / a: single: 1 voided blocks, 0 carry a cause"});
}

TEST(Validate, R_MEM_1_ReservedIsAtLeastAllocated) {
  EXPECT_EQ(
      after([](Record& r) { r.arms[0].memory.first = {.allocated = 5, .peak_allocated = 5}; }),
      (Problems{"arm a, memory of the first window: 0 bytes reserved, 5 allocated",
                "arm a, memory of the first window: at the peak 0 bytes reserved, 5 "
                "allocated"}));
  EXPECT_EQ(after([](Record& r) { r.arms[0].memory.steady.peak_reserved = 1; }).size(), 2U);
  EXPECT_EQ(
      after([](Record& r) { r.arms[0].memory.steady.peak_allocated = 0; }),
      Problems{"arm a, memory of the steady window: the peak is below what there is at its end"});
}

TEST(Validate, ARatioHasItsBaseCostAndEqualWork) {
  EXPECT_EQ(after([](Record& r) { r.pairs[0].ratios[0].base_us.reset(); }),
            Problems{"pair b / a, single: a ratio without the cost of its base"});
  EXPECT_EQ(after([](Record& r) { r.arms[1].work_hash = "other"; }),
            Problems{"pair b / a, single: a ratio of arms with different work"});
  EXPECT_EQ(after([](Record& r) { r.arms[1].protocol_hash = "other"; }),
            Problems{"pair b / a, single: a ratio of arms with different protocols"});
  EXPECT_EQ(after([](Record& r) { r.arms[1].batch = 33; }),
            Problems{"pair b / a, single: a ratio of arms with different batch sizes"});
  EXPECT_EQ(after([](Record& r) { r.arms[1].includes.push_back("validation"); }),
            Problems{"pair b / a, single: a ratio of arms with different includes"});
  EXPECT_EQ(after([](Record& r) { r.arms[1].latency[0].method = "instrumented"; }),
            Problems{"pair b / a, single: a ratio of an arm with instrumented lists"});
  EXPECT_EQ(after([](Record& r) { r.pairs[0].of = "c"; }),
            Problems{"pair c / a: there is no arm 'c'"});
  EXPECT_EQ(after([](Record& r) { r.pairs[0].ratios[0].time_ratio.reset(); }),
            Problems{"pair b / a, single: no ratio, and no reason why"});
  EXPECT_EQ(after([](Record& r) { r.arms[1].name = "a"; }).front(), "arm a: 2 arms have this name");
}

TEST(Validate, R_PHA_4_StepAndPipelineAreNotMixed) {
  EXPECT_EQ(after([](Record& r) {
              r.arms[1].scope = "pipeline";
              r.arms[1].includes = {"loader"};
              r.arms[0].includes = {"loader"};
            }),
            (Problems{"arm a: its scope is step-only and the loader is in the interval",
                      "pair b / a, single: a ratio of arms with different scopes"}));
  EXPECT_EQ(after([](Record& r) { r.arms[0].scope = "epoch"; }).front(),
            "arm a: its scope 'epoch' is neither step-only nor pipeline");
}

TEST(Validate, R_PHA_5_APipelineHasItsLoaderInside) {
  EXPECT_EQ(after([](Record& r) { r.arms[0].scope = r.arms[1].scope = "pipeline"; }),
            (Problems{"arm a: its scope is pipeline and the loader is not in the interval",
                      "arm b: its scope is pipeline and the loader is not in the interval"}));
}

TEST(Validate, WhatIsNotKnownHasAReason) {
  EXPECT_EQ(after([](Record& r) { r.environment[1].reason = ""; }),
            Problems{"environment, unknown: wants a value or a reason, one of them"});
  EXPECT_EQ(after([](Record& r) { r.environment[0].reason = "both"; }).size(), 1U);
  EXPECT_EQ(after([](Record& r) { r.calibration[1].reason = ""; }),
            Problems{"calibration, : no value, and no reason why"});
  EXPECT_EQ(after([](Record& r) { r.arms[0].utilization.reason = ""; }),
            Problems{"arm a: no utilization, and no reason why"});
  EXPECT_EQ(after([](Record& r) { r.baseline.resize(1); }),
            Problems{"baseline, : no comparison, and no reason why"});
}

TEST(Validate, R_CNT_5_ActiveSmsComeFromCounters) {
  const auto with_source = [](std::string_view source) {
    return after([&](Record& r) {
      r.arms[0].utilization.active_sm_fraction = 0.5;
      r.arms[0].utilization.source = source;
    });
  };
  EXPECT_EQ(with_source("counters"), Problems{});
  EXPECT_EQ(with_source("trace"),
            Problems{"arm a: active_sm_fraction comes from counters only, not from 'trace'"});
}

TEST(Validate, R_UTL_1_SharesAreSharesOfTheirOwn) {
  EXPECT_EQ(after([](Record& r) { r.arms[0].utilization.kernel_active_fraction = 37.0; }),
            Problems{"arm a: a share of 37 is outside [0, 1]"});
}

TEST(Validate, R_UTL_2_TheBoundIsNotAboveTheTime) {
  EXPECT_EQ(after([](Record& r) { r.arms[0].utilization.arith_lower_bound_us = 0.1; }), Problems{});
  EXPECT_EQ(after([](Record& r) { r.arms[0].utilization.arith_lower_bound_us = 0.2; }),
            Problems{"arm a: arith_lower_bound_us is 0.2, above the 0.1035 us that the step took"});
  EXPECT_EQ(after([](Record& r) { r.arms[0].utilization.bandwidth_lower_bound_us = 0.1; }),
            Problems{});
  EXPECT_EQ(
      after([](Record& r) { r.arms[0].utilization.bandwidth_lower_bound_us = 0.2; }),
      Problems{"arm a: bandwidth_lower_bound_us is 0.2, above the 0.1035 us that the step took"});
}

TEST(Validate, StatusFitsTheGates) {
  EXPECT_EQ(after([](Record& r) { r.gates[0].passed = false; }),
            Problems{"status: complete, and a gate failed"});
  EXPECT_EQ(after([](Record& r) { r.status = "void"; }),
            Problems{"status: void, and no reason why"});
  EXPECT_EQ(after([](Record& r) { r.schema = "x"; }), Problems{"schema: is 'x'"});
}

TEST(Validate, R_ENV_4_WithoutARunNoNumberAppears) {
  EXPECT_EQ(problems(not_run_record()), Problems{});
  const auto with = [](const std::function<void(Record&)>& change) {
    Record record = not_run_record();
    change(record);
    return problems(record);
  };
  const Problems of_arm{"arm cuda/graph/off/32: nothing was run, and here is a number"};
  EXPECT_EQ(with([](Record& r) { r.arms[0].counts.ops = 17; }), of_arm);
  EXPECT_EQ(with([](Record& r) { r.arms[0].memory.process_rss = 1; }), of_arm);
  EXPECT_EQ(with([](Record& r) { r.arms[0].utilization.occupancy = 0.5; }), of_arm);
  EXPECT_EQ(with([](Record& r) { r.arms[0].one_off.resize(1); }), of_arm);
  EXPECT_EQ(with([](Record& r) { r.calibration[0].low = 1.0; }),
            Problems{"calibration, stamp_cost: nothing was run, and here is a number"});
  EXPECT_EQ(with([](Record& r) { r.epochs.resize(1); }),
            Problems{"epochs: nothing was run, and here is a number"});
  EXPECT_EQ(with([](Record& r) { r.gates.resize(1); }).front(),
            "gates: nothing was run, and here is a number");
}

}  // namespace
}  // namespace stepscope
