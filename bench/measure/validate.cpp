// The rules of a record, one function each.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "bench/measure/sampler.h"
#include "bench/record/simulated.h"

namespace stepscope {
namespace {

constexpr std::int64_t kPlanRepeats = 30, kPlanWarmUp = 10;  // of the preset gpu-plan

struct Lists {
  std::string_view field, method, covers;
  const std::vector<Samples>& lists;
};

// Lists of an arm that its summaries are made of come first.
std::vector<Lists> lists_of(const ArmRecord& arm) {
  return {{"latency", method::kLatency, kComplete, arm.latency},
          {"input_copy", method::kLatency, kComplete, arm.input_copy},
          {"throughput", method::kThroughput, kComplete, arm.throughput},
          {"submission", method::kSubmission, kSubmittedOnly, arm.submission},
          {"device", method::kDevice, kComplete, arm.device},
          {"warmup", method::kLatency, kComplete, arm.warmup}};
}

bool close(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

class Check {
 public:
  explicit Check(const Record& record) : record_(record) {}

  std::vector<std::string> run() && {
    if (record_.schema != kRecordSchema) add("schema", "is '{}'", record_.schema);
    for (const ArmRecord& arm : record_.arms) check_arm(arm);
    for (const PairRecord& pair : record_.pairs) check_pair(pair);
    check_reasons();
    check_status();
    return std::move(problems_);
  }

 private:
  template <class... Values>
  void add(std::string_view place, fmt::format_string<Values...> text, Values&&... values) {
    problems_.push_back(
        fmt::format("{}: {}", place, fmt::format(text, std::forward<Values>(values)...)));
  }

  // A fact of the protocol as a number, where it is one.
  std::optional<std::int64_t> protocol_number(std::string_view name) const {
    for (const auto& [fact, value] : record_.protocol) {
      std::int64_t number = 0;
      const char* end = value.data() + value.size();
      if (fact == name && std::from_chars(value.data(), end, number).ptr == end) return number;
    }
    return std::nullopt;
  }
  bool exploratory() const {
    return record_.status == "exploratory" ||
           (record_.schedule && record_.schedule->claim == "exploratory");
  }

  void check_arm(const ArmRecord& arm) {
    const std::string place = fmt::format("arm {}", arm.name);
    const std::string_view base_name = arm.name;
    const auto same_name =
        std::count_if(record_.arms.begin(), record_.arms.end(),
                      [&](const auto& other) { return other.name == base_name; });
    if (same_name > 1) add(place, "{} arms have this name", same_name);
    for (const Lists& lists : lists_of(arm)) {
      for (const Samples& list : lists.lists) check_list(place, lists, list);
    }
    check_summary(fmt::format("{}, latency_summary", place), arm.latency, arm.latency_summary);
    check_summary(fmt::format("{}, input_copy_summary", place), arm.input_copy,
                  arm.input_copy_summary);
    check_summary(fmt::format("{}, throughput_summary", place), arm.throughput,
                  arm.throughput_summary);
    check_summary(fmt::format("{}, device_summary", place), arm.device, arm.device_summary);
    check_memory(place, arm.memory);
    check_utilization(place, arm);
    check_scope(place, arm);
    for (const OneOffRecord& cost : arm.one_off) {
      for (const auto& time : {cost.init_ns, cost.compile_ns, cost.capture_ns, cost.instantiate_ns,
                               cost.upload_ns, cost.first_step_ns, cost.warmup_ns}) {
        if (time && *time < 0) add(place, "a one-off cost is {} ns, below zero", *time);
      }
    }
  }

  void check_list(const std::string& arm, const Lists& of, const Samples& list) {
    const std::string place = fmt::format("{}, {} of process {}", arm, of.field, list.process);
    if (list.start_ns.size() != list.elapsed_ns.size()) {
      add(place, "{} start stamps and {} times", list.start_ns.size(), list.elapsed_ns.size());
    }
    const auto negative = std::find_if(list.elapsed_ns.begin(), list.elapsed_ns.end(),
                                       [](auto ns) { return ns < 0; });
    if (negative != list.elapsed_ns.end()) {
      add(place, "sample {} is {} ns, below zero", negative - list.elapsed_ns.begin(), *negative);
    }
    if (!std::is_sorted(list.start_ns.begin(), list.start_ns.end())) {
      add(place, "start stamps are not in time order");
    }
    if (list.steps_per_sample < 1) add(place, "{} steps a sample", list.steps_per_sample);
    if (list.method != of.method && list.method != method::kInstrumented) {
      add(place, "its method is '{}', not '{}'", list.method, of.method);
    }
    if (list.covers != of.covers) add(place, "it covers '{}', not '{}'", list.covers, of.covers);
    check_length(place, of.field, static_cast<std::int64_t>(list.elapsed_ns.size()));
  }

  void check_length(const std::string& place, std::string_view field, std::int64_t length) {
    const bool warm_up = field == "warmup";
    if (const auto wanted = protocol_number(warm_up ? "warm_up_steps" : "repeat")) {
      const bool fits = warm_up ? length >= *wanted : length == *wanted;
      if (!fits) add(place, "{} samples, the protocol says {}", length, *wanted);
    }
    const auto preset = std::find(record_.protocol.begin(), record_.protocol.end(),
                                  std::pair<std::string, std::string>("preset", "gpu-plan"));
    const std::int64_t least = warm_up ? kPlanWarmUp : kPlanRepeats;
    if (preset != record_.protocol.end() && length < least && !exploratory()) {
      add(place, "{} samples, gpu-plan wants {}; fewer are exploratory", length, least);
    }
  }

  void check_summary(const std::string& place, const std::vector<Samples>& lists,
                     const TimeSummary& said) {
    std::size_t samples = 0;
    for (const Samples& list : lists) {
      samples += list.elapsed_ns.size();
      if (list.steps_per_sample < 1) return;  // said above
    }
    if (static_cast<std::size_t>(said.count) != samples) {
      return add(place, "it counts {} samples, its lists hold {}", said.count, samples);
    }
    if (samples == 0) return;
    const TimeSummary made = summarize(lists);
    const auto differs = [&](std::string_view field, double is, double should) {
      if (!close(is, should)) add(place, "{} is {}, its lists give {}", field, is, should);
    };
    differs("min_ns", said.min_ns, made.min_ns);
    differs("q1_ns", said.q1_ns, made.q1_ns);
    differs("median_ns", said.median_ns, made.median_ns);
    differs("q3_ns", said.q3_ns, made.q3_ns);
    differs("max_ns", said.max_ns, made.max_ns);
    differs("mean_ns", said.mean_ns, made.mean_ns);
    differs("iqr_ns", said.iqr_ns, made.iqr_ns);
    if (said.mild_outliers != made.mild_outliers || said.severe_outliers != made.severe_outliers) {
      add(place, "outliers are {} mild and {} severe, its lists give {} and {}", said.mild_outliers,
          said.severe_outliers, made.mild_outliers, made.severe_outliers);
    }
    if (said.median_low_ns.has_value() != made.median_low_ns.has_value() ||
        said.median_high_ns.has_value() != made.median_high_ns.has_value()) {
      add(place, "the interval of the median is there for six samples or more, and only then");
    } else if (made.median_low_ns) {
      differs("median_low_ns", *said.median_low_ns, *made.median_low_ns);
      differs("median_high_ns", *said.median_high_ns, *made.median_high_ns);
    }
  }

  void check_memory(const std::string& arm, const MemoryRecord& memory) {
    for (const auto& [name, window] :
         {std::pair("first", memory.first), {"steady", memory.steady}}) {
      const std::string place = fmt::format("{}, memory of the {} window", arm, name);
      if (window.reserved < window.allocated) {
        add(place, "{} bytes reserved, {} allocated", window.reserved, window.allocated);
      }
      if (window.peak_reserved < window.peak_allocated) {
        add(place, "at the peak {} bytes reserved, {} allocated", window.peak_reserved,
            window.peak_allocated);
      }
      if (window.peak_allocated < window.allocated || window.peak_reserved < window.reserved) {
        add(place, "the peak is below what there is at its end");
      }
    }
  }

  void check_utilization(const std::string& place, const ArmRecord& arm) {
    const UtilizationRecord& use = arm.utilization;
    if (use.active_sm_fraction && use.source != "counters") {
      add(place, "active_sm_fraction comes from counters only, not from '{}'", use.source);
    }
    const bool empty = !use.device_busy_us && !use.kernel_active_fraction && !use.occupancy &&
                       !use.active_sm_fraction;
    if (empty && use.reason.empty()) add(place, "no utilization, and no reason why");
    for (const auto& fraction :
         {use.kernel_active_fraction, use.occupancy, use.active_sm_fraction}) {
      if (fraction && !(*fraction >= 0.0 && *fraction <= 1.0)) {
        add(place, "a share of {} is outside [0, 1]", *fraction);
      }
    }
    const bool timed = arm.throughput_summary.count > 0;
    const double time_us =
        use.device_busy_us.value_or(timed ? arm.throughput_summary.median_ns * 1e-3 : INFINITY);
    for (const auto& [field, bound] :
         {std::pair("arith_lower_bound_us", use.arith_lower_bound_us),
          {"bandwidth_lower_bound_us", use.bandwidth_lower_bound_us}}) {
      if (bound && *bound > time_us) {
        add(place, "{} is {:.4g}, above the {:.4g} us that the step took", field, *bound, time_us);
      }
    }
  }

  void check_scope(const std::string& place, const ArmRecord& arm) {
    if (arm.scope != "step-only" && arm.scope != "pipeline") {
      add(place, "its scope '{}' is neither step-only nor pipeline", arm.scope);
    }
    const bool loads =
        std::find(arm.includes.begin(), arm.includes.end(), "loader") != arm.includes.end();
    if (loads != (arm.scope == "pipeline")) {
      add(place, "its scope is {} and the loader is {}in the interval", arm.scope,
          loads ? "" : "not ");
    }
  }

  const ArmRecord* arm_named(std::string_view name) const {
    const auto at = std::find_if(record_.arms.begin(), record_.arms.end(),
                                 [&](const ArmRecord& arm) { return arm.name == name; });
    return at == record_.arms.end() ? nullptr : &*at;
  }

  void check_pair(const PairRecord& pair) {
    const std::string place = fmt::format("pair {} / {}", pair.of, pair.base);
    const ArmRecord* base = arm_named(pair.base);
    const ArmRecord* of = arm_named(pair.of);
    if (base == nullptr || of == nullptr) {
      return add(place, "there is no arm '{}'", base == nullptr ? pair.base : pair.of);
    }
    std::map<std::string, std::int64_t> voided;
    for (const ProcessBlocks& process : pair.processes) check_blocks(place, process, voided);
    if (pair.break_even && (base->simulated || of->simulated)) {
      add(place, "a break-even of a simulated backend");
    }
    for (const RatioRecord& ratio : pair.ratios) {
      check_ratio(fmt::format("{}, {}", place, ratio.stratum), *base, *of, ratio);
      const std::int64_t marked = voided[ratio.stratum];
      if (!pair.processes.empty() && ratio.voided != marked) {
        add(place, "{}: {} voided blocks, {} carry a cause", ratio.stratum, ratio.voided, marked);
      }
    }
  }

  void check_blocks(const std::string& pair, const ProcessBlocks& process,
                    std::map<std::string, std::int64_t>& voided) {
    const std::string place = fmt::format("{}, process {}", pair, process.process);
    for (std::size_t i = 0; i < process.blocks.size(); ++i) {
      const TimedBlock& block = process.blocks[i];
      if (block.order != "ABBA" && block.order != "BAAB") {
        add(place, "block {} has the order '{}'", i, block.order);
      }
      if (!block.void_cause.empty()) ++voided[block.stratum];
      if (block.sentinel_before_ns < 0 || block.sentinel_after_ns < 0) {
        add(place, "block {}: a sentinel is below zero", i);
      }
      std::int64_t last = INT64_MIN;
      for (const TimedSlot& slot : block.slots) {
        if (slot.elapsed_ns < 0) {
          add(place, "block {}: a slot is {} ns, below zero", i, slot.elapsed_ns);
        }
        if (slot.start_ns < last) add(place, "block {}: slots are not in time order", i);
        last = slot.start_ns;
      }
    }
  }

  void check_ratio(const std::string& place, const ArmRecord& base, const ArmRecord& of,
                   const RatioRecord& ratio) {
    if (!ratio.time_ratio) {
      if (ratio.reason.empty()) add(place, "no ratio, and no reason why");
      return;
    }
    if (!ratio.base_us) add(place, "a ratio without the cost of its base");
    if (base.simulated || of.simulated) add(place, "a ratio of a simulated backend");
    const auto differ = [&](std::string_view what, const auto& a, const auto& b) {
      if (a != b) add(place, "a ratio of arms with different {}", what);
    };
    differ("work", base.work_hash, of.work_hash);
    differ("protocols", base.protocol_hash, of.protocol_hash);
    differ("scopes", base.scope, of.scope);
    differ("batch sizes", base.batch, of.batch);
    differ("includes", base.includes, of.includes);
    for (const ArmRecord* arm : {&base, &of}) {
      for (const auto& [field, method, covers, lists] : lists_of(*arm)) {
        for (const Samples& list : lists) {
          if (!may_enter_ratio(list.method)) {
            add(place, "a ratio of an arm with {} lists", list.method);
          }
        }
      }
    }
  }

  void check_reasons() {
    for (const Fact& fact : record_.environment) {
      if (fact.value.has_value() == !fact.reason.empty()) {
        add(fmt::format("environment, {}", fact.name), "wants a value or a reason, one of them");
      }
    }
    for (const CalibrationRow& row : record_.calibration) {
      if (!row.value && row.reason.empty()) {
        add(fmt::format("calibration, {}", row.name), "no value, and no reason why");
      }
    }
    for (const BaselineRecord& row : record_.baseline) {
      if (!row.change && row.reason.empty()) {
        add(fmt::format("baseline, {}", row.arm), "no comparison, and no reason why");
      }
    }
    for (const ProcessRecord& process : record_.processes) {
      for (const std::int64_t ns : process.sentinel_ns) {
        if (ns < 0) add(fmt::format("process {}", process.process), "a sentinel of {} ns", ns);
      }
    }
  }

  void check_status() {
    const bool failed = std::any_of(record_.gates.begin(), record_.gates.end(),
                                    [](const GateRecord& gate) { return !gate.passed; });
    if (failed && record_.status == "complete") add("status", "complete, and a gate failed");
    if (record_.status != "complete" && record_.status_reason.empty()) {
      add("status", "{}, and no reason why", record_.status);
    }
    if (record_.status == "not-run") check_not_run();
    if ((record_.status == kSimulated) != is_simulated(record_) && record_.status != "not-run" &&
        record_.status != "unequal-work") {
      add("status", "{}, and {} of its arms are simulated", record_.status,
          is_simulated(record_) ? "all" : "not all");
    }
  }

  // Without a run there are no numbers.
  void check_not_run() {
    const auto refuse = [&](bool there, std::string_view place) {
      if (there) add(place, "nothing was run, and here is a number");
    };
    for (const ArmRecord& arm : record_.arms) {
      const std::string place = fmt::format("arm {}", arm.name);
      for (const Lists& lists : lists_of(arm)) refuse(!lists.lists.empty(), place);
      const UtilizationRecord& use = arm.utilization;
      const MemoryRecord& memory = arm.memory;
      refuse(arm.dispatch_empty_kernels || !arm.one_off.empty() || arm.counts != StepCounts{} ||
                 arm.latency_summary != TimeSummary{} || arm.throughput_summary != TimeSummary{} ||
                 memory.first != MemoryWindow{} || memory.steady != MemoryWindow{} ||
                 !memory.owners.empty() || memory.process_rss || memory.process_peak_rss ||
                 use.device_busy_us || use.kernel_active_fraction || use.occupancy ||
                 use.active_sm_fraction || arm.reserved_bytes != 0,
             place);
    }
    for (const CalibrationRow& row : record_.calibration) {
      refuse(row.value || row.low || row.high, fmt::format("calibration, {}", row.name));
    }
    refuse(!record_.processes.empty(), "processes");
    refuse(!record_.pairs.empty(), "pairs");
    refuse(!record_.gates.empty(), "gates");
    refuse(!record_.epochs.empty(), "epochs");
    refuse(!record_.submissions.empty(), "submissions");
    refuse(!record_.baseline.empty(), "baseline");
  }

  const Record& record_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> problems(const Record& record) { return Check(record).run(); }

}  // namespace stepscope
