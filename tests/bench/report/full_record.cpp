// Building records of every kind.
// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/report/full_record.h"

#include <fmt/format.h>

#include "tests/bench/report/records.h"

namespace stepscope::test {
namespace {

// A made-up backend whose streams have a clock of their own.
constexpr const char* kClocked = "stopwatch";

void add_planned(Record& record, const std::string& backend, std::int64_t batch) {
  const ArmRecord eager = arm_of(record, fmt::format("{}/eager/off/{}", backend, batch));
  const ArmRecord graph = arm_of(record, fmt::format("{}/graph/off/{}", backend, batch));
  const ArmRecord planned =
      make_arm(backend, "planned", "off", batch, 0.95 * eager.throughput_summary.median_ns);
  record.pairs.push_back(make_pair_record(eager, planned, "FASTER"));
  record.pairs.push_back(make_pair_record(planned, graph, "UNDECIDED", 0.03));
  record.pairs.back().ratios.front().verdict_reason = "0.9 to 1.1 lies on both sides of the band";
  ArmRecord again =
      make_arm(backend, "eager", "off", batch, 1.001 * eager.throughput_summary.median_ns);
  again.name += "/again";
  again.role = "control";
  record.pairs.push_back(make_pair_record(eager, again, "SAME"));
  record.pairs.back().kind = "control";
  record.arms.push_back(planned);
  record.arms.push_back(again);
}

void add_passes(ArmRecord& arm) {
  arm.passes = {
      {.name = "simplify", .changed = true, .ops_before = 18, .ops_after = 17, .notes = {}},
      {.name = "epilogue",
       .fusion = true,
       .changed = true,
       .ops_before = 17,
       .ops_after = 14,
       .intermediate_bytes_removed = 1024,
       .time_ns = 12'000,
       .notes = {}},
      {.name = "fold_sgd",
       .fusion = true,
       .ops_before = 14,
       .ops_after = 14,
       .notes = {"w1: momentum has no fold", "w2: the same"}}};
}

// Sizes that grow with the batch.
void add_sizes(ArmRecord& arm) {
  const auto batch = static_cast<double>(arm.batch);
  const auto kib = [&](double fixed, double each) {
    return static_cast<std::uint64_t>(1024.0 * (fixed + each * batch));
  };
  arm.counts.input_bytes = kib(0, 3);
  arm.flops = 400'000.0 * batch;
  arm.library_flops = 0.987 * arm.flops;
  arm.fewest_bytes = 800'000.0 + 20'000.0 * batch;
  arm.memory.first = {.allocated = kib(400, 4),
                      .reserved = kib(500, 8),
                      .peak_allocated = kib(450, 8),
                      .peak_reserved = kib(500, 8)};
  arm.memory.steady = arm.memory.first;
  arm.memory.steady.peak_allocated = kib(400, 8);
  arm.memory.owners = {{"model segment", "stepscope", kib(400, 3)},
                       {"plan arena", "stepscope", kib(100, 5)}};
  arm.memory.process_rss = 80U << 20U;
  if (arm.backend == kClocked && arm.mode_requested == "graph") {
    const double median = 0.625 * arm.throughput_summary.median_ns;
    arm.recorded_as = "capture";
    arm.device_summary = {.count = 48,
                          .min_ns = 0.75 * median,
                          .q1_ns = 0.96 * median,
                          .median_ns = median,
                          .q3_ns = 1.02 * median,
                          .max_ns = 1.5 * median,
                          .mean_ns = 1.01 * median,
                          .iqr_ns = 0.06 * median,
                          .mild_outliers = 1,
                          .severe_outliers = 0};
  }
  arm.utilization.reason = "a backend of the processor: no device counts for it";
  arm.utilization.arith_lower_bound_us = arm.flops / 166e3;
}

void add_calibration(Record& record) {
  record.calibration = {
      {"stamp_cost", "ns", 21.0, 20.0, 22.5, 21, "reading the steady clock, in blocks", ""},
      {"fork_join", "ns", {}, {}, {}, 0, "", "one thread: there is no team"},
      {"bandwidth_read_l1", "GB/s", 220.0, 207.0, 226.0, 764, "one core, AVX-512, 24 KiB", ""},
      {"bandwidth_read_dram", "GB/s", 13.3, 12.8, 13.9, 474, "one core, AVX-512, 600 MiB", ""},
      {"fma_peak", "GFLOP/s", 160.0, 157.0, 166.0, 9, "one core, f32, AVX-512", ""}};
}

void add_environment(Record& record) {
  record.version = "0.1.0";
  record.command = "stepscope compare --batch 1,32";
  record.created = "2026-11-30T10:38:34Z";
  record.experiment_id = "8519de19c2da1483";
  record.protocol = {{"method", "throughput"}, {"order", "ABBA or BAAB"}};
  record.environment.push_back({"cpu_governor", {}, "no such file"});
  record.environment.push_back({"gpu_count", {}, "no driver"});
  record.environment.push_back({"gpu_name", {}, "no driver"});
  record.notes = {"a note | with <marks> of *Markdown*, \"quotes\" and _more_"};
}

void add_voids_and_flags(Record& record) {
  ProcessBlocks blocks;
  blocks.blocks.resize(4);
  blocks.blocks[0].void_cause = "sentinel: 100.0 us before and 110.0 us after";
  record.pairs.front().processes.push_back(blocks);
  record.pairs.front().ratios.front().flags = {"order-effect: an outer slot takes +1.0 %"};
  record.arms.front().flags = {"drift: times change over the run"};
  record.baseline = {{"eigen/graph/off/1", "", 9.0, 9.9, Interval{1.1, 1.05, 1.15}, "SLOWER"},
                     {"eigen/eager/off/1", "processor differs: A and B", {}, {}, {}, ""}};
}

}  // namespace

Record full() {
  Record record = decided();
  add_backend(record, decided(kClocked));
  for (const std::string backend : {"eigen", kClocked}) {
    for (const std::int64_t batch : {1, 32}) add_planned(record, backend, batch);
  }
  for (ArmRecord& arm : record.arms) {
    add_sizes(arm);
    if (arm.fusion == "on") add_passes(arm);
  }
  for (PairRecord& pair : record.pairs) pair.ratios.front().delta = 0.013;
  add_calibration(record);
  add_environment(record);
  add_voids_and_flags(record);
  return record;
}

Record trained() {
  Record record;
  record.work = {"mlp:784-128-10", "sgd", 0.1, "generated (seed 1)", "f32", 1};
  for (const std::int64_t number : {1, 2}) {
    EpochRecord epoch;
    epoch.epoch = number;
    epoch.training_loss = 0.5 / static_cast<double>(number);
    epoch.validation_loss = 0.6 / static_cast<double>(number);
    epoch.validation_accuracy = 0.9;
    epoch.steps = 1500;
    epoch.wall_ns = 1'000'000'000;
    epoch.data_ns = 200'000'000;
    epoch.step_ns = 600'000'000;
    record.epochs.push_back(epoch);
  }
  record.submissions = {{.activity = "training",
                         .steps = 3000,
                         .submissions = 3000,
                         .graph_launches = 3000,
                         .least = 1,
                         .most = 1,
                         .median = 1}};
  return record;
}

Record planned_only() {
  Record record;
  record.work = {"mlp:784-128-10", "sgd", 0.1, "generated (seed 1)", "f32", 1};
  record.status = "not-run";
  record.status_reason = "--dry-run";
  return record;
}

}  // namespace stepscope::test
