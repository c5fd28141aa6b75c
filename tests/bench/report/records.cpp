// Building records.
// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/report/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace stepscope::test {
namespace {

TimeSummary summary_of(double median_ns) {
  return {.count = 300,
          .min_ns = median_ns / 2,
          .q1_ns = median_ns * 0.99,
          .median_ns = median_ns,
          .q3_ns = median_ns * 1.01,
          .max_ns = median_ns * 3,
          .mean_ns = median_ns * 1.1,
          .iqr_ns = median_ns * 0.02,
          .mild_outliers = 4,
          .severe_outliers = 2};
}

}  // namespace

std::string squeezed(const std::string& text) {
  std::string squeezed;
  for (const char c : text) {
    if (c != ' ' || squeezed.empty() || squeezed.back() != ' ') squeezed += c;
  }
  return squeezed;
}

std::string unwrapped(const std::string& text) {
  std::string joined;
  for (const char c : text) {
    if (c == ' ' && !joined.empty() && joined.back() == '\n') joined.pop_back();
    joined += c;
  }
  return squeezed(joined);
}

ArmRecord make_arm(const std::string& backend, const std::string& mode, const std::string& fusion,
                   std::int64_t batch, double median_ns) {
  ArmRecord arm;
  arm.name = fmt::format("{}/{}/{}/{}", backend, mode, fusion, batch);
  arm.backend = backend;
  arm.mode_requested = arm.mode_executed = mode;
  arm.fusion = fusion;
  arm.batch = batch;
  const bool fused = fusion != "off";
  const std::uint64_t ops = fused ? 14 : 17;
  const bool graph = mode == "graph";
  arm.counts = {.ops = ops,
                .submissions = graph ? 1 : ops,
                .graph_launches = graph ? 1U : 0U,
                .nodes_executed = graph ? ops : 0,
                .calls = ops,
                .library_calls = 5,
                .own_calls = ops - 5,
                .lookups = mode == "eager" ? ops : 0,
                .intermediate_bytes = fused ? 3072U : 4096U,
                .by_phase = {{"forward", ops - 8, ops - 8, 2, ops - 10}, {"update", 8, 8, 3, 5}}};
  arm.flops = 1000.0;
  arm.library_flops = 987.0;
  arm.latency_summary = arm.throughput_summary = summary_of(median_ns);
  arm.input_copy_summary = summary_of(500.0);
  arm.dispatch_empty_kernels = summary_of(graph ? 68.0 : 850.0);
  arm.one_off = {
      {.process = 1, .init_ns = 1'000'000, .compile_ns = 200'000, .first_step_ns = 30'000}};
  return arm;
}

PairRecord make_pair_record(const ArmRecord& base, const ArmRecord& of, const std::string& verdict,
                            double half_width) {
  const double base_us = base.throughput_summary.median_ns / 1000.0;
  const double of_us = of.throughput_summary.median_ns / 1000.0;
  const double ratio = of_us / base_us;
  RatioRecord said;
  said.stratum = "single";
  said.time_ratio = Interval{ratio, ratio - half_width, ratio + half_width};
  said.base_us = Interval{base_us, base_us * 0.99, base_us * 1.01};
  said.of_us = Interval{of_us, of_us * 0.99, of_us * 1.01};
  said.difference_us = Interval{of_us - base_us, of_us - base_us - 0.1, of_us - base_us + 0.1};
  said.ratio_of_medians = ratio;
  said.q1 = ratio - half_width / 2;
  said.q3 = ratio + half_width / 2;
  said.p = said.p_holm = verdict == "FASTER" || verdict == "SLOWER" ? 0.0001 : 0.5;
  said.verdict = verdict;
  return {.base = base.name, .of = of.name, .processes = {}, .ratios = {said}, .break_even = {}};
}

Record decided(const std::string& backend) {
  Record record;
  record.work = {"mlp:784-128-10", "sgd", 0.1, "generated (seed 1)", "f32", 1};
  record.environment = {{"processor", "Model X", ""}, {"compiler", "g++ 12.2.0", ""}};
  record.backends = {{backend, {{backend, "3.4.0"}}}};
  record.schedule = ScheduleRecord{.budget_s = 170,
                                   .expected_s = 158,
                                   .processes = 10,
                                   .blocks = 16,
                                   .slot_ms = 5,
                                   .seed = 1,
                                   .claim = "published"};
  for (const std::int64_t batch : {1, 32}) {
    const double eager = batch == 1 ? 10'000.0 : 100'000.0;
    const double graph = batch == 1 ? 9'000.0 : 99'800.0;
    const ArmRecord base = make_arm(backend, "eager", "off", batch, eager);
    const ArmRecord of = make_arm(backend, "graph", "off", batch, graph);
    const ArmRecord fused = make_arm(backend, "graph", "on", batch, graph * 0.8);
    record.pairs.push_back(make_pair_record(base, of, batch == 1 ? "FASTER" : "SAME", 0.004));
    record.pairs.back().break_even =
        batch == 1 ? BreakEven{120.0, 120.0, "120 steps"} : BreakEven{120.0, {}, "never"};
    record.pairs.push_back(make_pair_record(of, fused, "FASTER"));
    for (const ArmRecord& arm : {base, of, fused}) record.arms.push_back(arm);
  }
  for (const char* when : {"before", "after"}) {
    record.gates.push_back({.when = when,
                            .backend = backend,
                            .baseline_mode = "eager",
                            .mode = "graph",
                            .batch = 1,
                            .criterion = "bits",
                            .steps = 20,
                            .passed = true,
                            .detail = ""});
  }
  return record;
}

void add_backend(Record& record, const Record& other) {
  const std::string first = record.arms.front().backend;
  const std::string second = other.arms.front().backend;
  for (const ArmRecord& arm : other.arms) record.arms.push_back(arm);
  for (const PairRecord& pair : other.pairs) record.pairs.push_back(pair);
  for (const auto& backend : other.backends) record.backends.push_back(backend);
  for (const std::int64_t batch : {1, 32}) {
    record.pairs.push_back(
        make_pair_record(arm_of(record, fmt::format("{}/graph/off/{}", first, batch)),
                         arm_of(record, fmt::format("{}/graph/off/{}", second, batch)),
                         batch == 1 ? "SLOWER" : "FASTER"));
  }
}

ArmRecord& arm_of(Record& record, const std::string& name) {
  for (ArmRecord& arm : record.arms) {
    if (arm.name == name) return arm;
  }
  throw std::out_of_range(name);
}

RatioRecord& ratio_of(Record& record, const std::string& of, const std::string& base) {
  for (PairRecord& pair : record.pairs) {
    if (pair.of == of && pair.base == base) return pair.ratios.front();
  }
  throw std::out_of_range(of);
}

}  // namespace stepscope::test
