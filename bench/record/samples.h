// What was measured, raw: lists of samples, slots of a comparison, single values with their spread.
// Nothing is dropped from a list; a sample that is not trusted carries its cause.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// A fact that is known, or why it is not. JSON: {"value": ...} or {"value": null, "reason": ...}.
struct Fact {
  std::string name;
  std::optional<std::string> value;
  std::string reason;  // why there is no value

  std::string text() const;  // the value, or "not available: " and the reason
};

// Stamps are nanoseconds of the steady clock since the process took its first one.

// Samples::method. Lists of different methods answer different questions: no ratio mixes them.
namespace method {
inline constexpr std::string_view kLatency = "latency";
inline constexpr std::string_view kThroughput = "throughput";
inline constexpr std::string_view kSubmission = "submission";
// By the device's own clock, from the start of its first work to the end of its last, gaps in which
// it waited for the host among them.
inline constexpr std::string_view kDevice = "device";
// Waits after each operation, which adds cost and ends all overlap: never part of a ratio.
inline constexpr std::string_view kInstrumented = "instrumented";
}  // namespace method
constexpr bool may_enter_ratio(std::string_view method) { return method != method::kInstrumented; }

// Samples::covers.
inline constexpr std::string_view kComplete = "complete";
inline constexpr std::string_view kSubmittedOnly = "submitted-only";

// One list of one arm in one process: columns of equal length, in time order.
struct Samples {
  std::int64_t process = 0;
  std::string method;                    // latency, throughput, submission, device, instrumented
  std::string covers = "complete";       // complete: all work had ended; submitted-only
  std::int64_t steps_per_sample = 1;     // a block is divided by it
  std::vector<std::int64_t> start_ns;    // of each sample
  std::vector<std::int64_t> elapsed_ns;  // of the whole sample

  friend bool operator==(const Samples&, const Samples&) = default;
};

// One slot of a comparison: a throughput block from the same start as every other slot. What the
// system did meanwhile stands beside its time.
struct TimedSlot {
  std::int64_t start_ns = 0, elapsed_ns = 0;
  std::int64_t thread_cpu_ns = 0, process_cpu_ns = 0;
  std::int64_t voluntary_switches = 0, involuntary_switches = 0;
  std::int64_t page_faults = 0;

  friend bool operator==(const TimedSlot&, const TimedSlot&) = default;
};

// Four slots in time order, ABBA or BAAB: A is the pair's base. A drift that is linear in time
// falls on both alike.
struct TimedBlock {
  std::string order;                    // ABBA, BAAB
  std::string stratum;                  // near, far: the two cores; single: one thread
  std::array<TimedSlot, 4> slots{};     // in time order
  std::int64_t sentinel_before_ns = 0;  // the fixed workload beside it
  std::int64_t sentinel_after_ns = 0;
  std::string void_cause;  // empty: it counts. Set blind to the arms; the block stays

  friend bool operator==(const TimedBlock&, const TimedBlock&) = default;
};

struct ProcessBlocks {
  std::int64_t process = 0;
  std::int64_t base_steps = 1, of_steps = 1;  // steps of a slot of the base, and of the other arm
  std::vector<TimedBlock> blocks;

  friend bool operator==(const ProcessBlocks&, const ProcessBlocks&) = default;
};

// Summary of a list: quartiles are of type 7 (Hyndman and Fan 1996). Per step, in nanoseconds.
struct TimeSummary {
  std::int64_t count = 0;
  double min_ns = 0, q1_ns = 0, median_ns = 0, q3_ns = 0, max_ns = 0, mean_ns = 0;
  double iqr_ns = 0;
  std::int64_t mild_outliers = 0, severe_outliers = 0;  // Tukey's fences at 1.5 and 3 IQR; all kept
  // Of the median, whatever the distribution: two order statistics. Empty below six samples.
  std::optional<double> median_low_ns, median_high_ns, median_coverage;

  friend bool operator==(const TimeSummary&, const TimeSummary&) = default;
};

// One row of the calibration: what the instrument and the machine cost. Reported, never subtracted.
struct CalibrationRow {
  std::string name;                 // bench/measure/calibration.h lists them
  std::string unit;                 // ns, ns/op, GB/s, GFLOP/s
  std::optional<double> value;      // median
  std::optional<double> low, high;  // quartiles
  std::int64_t count = 0;
  std::string note;    // what was run
  std::string reason;  // why there is no value

  friend bool operator==(const CalibrationRow&, const CalibrationRow&) = default;
};

}  // namespace stepscope
