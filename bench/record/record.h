// Record: the facts of one run, as plain data. No behaviour; it knows no clock and no backend.
// bench/record/json.h writes and reads it, docs/record.md and docs/record-schema.json describe it.
// A field that was not measured is empty, never zero: JSON writes null for a summary, counts or a
// memory window that is as it was made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/record/samples.h"

namespace stepscope {

inline constexpr const char* kRecordSchema = "stepscope-record 5";

// name -> value, in a fixed order.
using Facts = std::vector<std::pair<std::string, std::string>>;

// What was asked for, for people. What decides whether work is equal: ArmRecord::work.
struct WorkFacts {
  std::string model;      // canonical: mlp:784-128-10
  std::string optimizer;  // sgd, momentum, adam
  double rate = 0.0;
  std::string data;  // source; "generated" says so
  std::string dtype = "f32";
  std::uint64_t seed = 0;
  std::string rate_schedule = "constant";  // of the learning rate; in text, as --schedule takes it
  bool tf32 = false;                       // inputs of products rounded to TF32
};

// Calls of one set of phases in one steady step.
struct PhaseCalls {
  std::string phases;  // forward; a fused op has several: forward+loss+backward
  std::uint64_t ops = 0, calls = 0, library_calls = 0, own_calls = 0;

  friend bool operator==(const PhaseCalls&, const PhaseCalls&) = default;
};

// Exact counts of one steady step, from its graph and from the stream. Three different numbers: ops
// of the program, submissions by the host, kernels executed (calls).
struct StepCounts {
  std::uint64_t ops = 0;             // in the program; each is one launch
  std::uint64_t reorders = 0;        // of them: ops that only change a layout
  std::uint64_t submissions = 0;     // launches handed over one by one, or replays
  std::uint64_t graph_launches = 0;  // of the submissions: replays of a recording
  std::uint64_t nodes_executed = 0;  // calls made by replays
  std::uint64_t calls = 0;           // that reached a library or an own kernel
  std::uint64_t library_calls = 0, own_calls = 0;
  std::uint64_t lookups = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t intermediate_bytes = 0;  // computed and saved values, at their dense sizes
  std::vector<PhaseCalls> by_phase;

  friend bool operator==(const StepCounts&, const StepCounts&) = default;
};

// Submissions of one activity of a run: never a total alone, since a total fits several stories
// (1,500 training steps and 375 validation batches are 1,875, and so is 60,000 / 32).
struct SubmissionRecord {
  std::string activity;  // training, validation, warm_up
  std::int64_t steps = 0;
  std::int64_t submissions = 0;      // of all steps
  std::int64_t graph_launches = 0;   // of them: replays
  std::int64_t least = 0, most = 0;  // submissions of one step
  double median = 0;
};

// What one pass did to the step of an arm, in the order in which they ran.
struct PassRecord {
  std::string name;
  bool fusion = false;   // it can be left out; the others run always
  bool changed = false;  // the graph
  std::int64_t ops_before = 0, ops_after = 0;
  std::int64_t intermediate_bytes_removed = 0;  // below zero: it added some
  std::int64_t time_ns = 0;                     // of the pass itself, while compiling
  std::vector<std::string> notes;               // why it did not apply, or not everywhere
};

// Costs that are paid once, in one process. Empty: the mode or backend has no such phase.
struct OneOffRecord {
  std::int64_t process = 0;
  std::optional<std::int64_t> init_ns;         // backend, stream, model segment
  std::optional<std::int64_t> compile_ns;      // passes, lowering, plan, binding
  std::optional<std::int64_t> capture_ns;      // recording
  std::optional<std::int64_t> instantiate_ns;  // of a device graph
  std::optional<std::int64_t> upload_ns;       // of a device graph
  std::optional<std::int64_t> first_step_ns;   // or first replay
  std::optional<std::int64_t> warmup_ns;
  std::int64_t warmup_steps = 0;
  std::string warmup_rule;                  // what ended it
  std::int64_t compilations_in_steady = 0;  // kernels lowered after warm-up: 0 with a cache
};

struct MemoryWindow {
  std::uint64_t allocated = 0;       // live tensor bytes, at the window's end
  std::uint64_t reserved = 0;        // held by the allocator; at least allocated
  std::uint64_t peak_allocated = 0;  // highest within the window
  std::uint64_t peak_reserved = 0;

  friend bool operator==(const MemoryWindow&, const MemoryWindow&) = default;
};

struct MemoryOwner {
  std::string owner;  // model segment, plan arena, eager pool, recording, library
  std::string layer;  // who counts: stepscope, the system
  std::uint64_t reserved = 0;
};

struct MemoryRecord {
  MemoryWindow first;   // the first step, before warm-up
  MemoryWindow steady;  // peaks reset after warm-up
  std::vector<MemoryOwner> owners;
  std::optional<std::uint64_t> process_rss, process_peak_rss;  // of the whole process, all arms
};

// How busy a device was; each a quantity of its own, none made from the others. Empty with the
// reason where nothing measures it.
struct UtilizationRecord {
  std::optional<double> device_busy_us;          // of a step, with a kernel running: from a trace
  std::optional<double> kernel_active_fraction;  // of a sampling window: what nvidia-smi shows
  std::optional<double> occupancy;               // of the warps that an SM could hold
  std::optional<double> active_sm_fraction;      // from counters only, never from sizes
  std::string source;                            // trace, nvidia-smi, counters
  std::string reason = "not measured";           // why the four are empty; then, why a bound is
  // Operations over the peak, bytes over the bandwidth: lower bounds of a step's time, neither a
  // kernel's time nor a utilization.
  std::optional<double> arith_lower_bound_us;
  std::optional<double> bandwidth_lower_bound_us;
};

struct ArmRecord {
  std::string name;          // of this record alone: eigen/graph/on/32; .../again, .../planted
  std::string role = "arm";  // arm; control: the base once more; same, planted: of --self-check
  std::string backend;
  bool simulated = false;  // its device is a model: no ratio is made of a time
  std::string mode_requested, mode_executed;
  std::string recorded_as;                // tape, capture, nodes; empty where nothing is recorded
  std::string inputs_copied = "outside";  // of the recording, or inside
  std::string fusion = "off";             // canonical: off, on, the passes, or what is left out
  std::int64_t batch = 0;
  int threads = 1;
  Facts work;                         // everything that decides the work
  std::string work_hash;              // SHA-256 of it; arms with different hashes get no ratio
  std::string protocol_hash;          // of Record::protocol
  std::string scope = "step-only";    // or pipeline
  std::vector<std::string> includes;  // in the timed interval beside the step: input_copy, loss
  // Of one epoch of the data at this batch size; empty where no data are read.
  std::optional<std::int64_t> steps, samples_seen, samples_dropped;
  std::string partial_policy;
  StepCounts counts;
  std::uint64_t reserved_bytes = 0;  // arena, or blocks of the pool
  std::uint64_t model_bytes = 0;     // model segment
  double flops = 0;                  // arithmetic of one step, by the ops' own account
  double library_flops = 0;          // of them: in ops whose kernel calls the library
  double fewest_bytes = 0;           // that one step must move, by the ops' own account
  std::vector<PassRecord> passes;
  std::vector<OneOffRecord> one_off;  // per process
  MemoryRecord memory;                // of the first process
  UtilizationRecord utilization;
  // Raw lists, one per process.
  std::vector<Samples> latency;     // each step waited for
  std::vector<Samples> input_copy;  // before each of those steps
  std::vector<Samples> throughput;  // blocks of steps
  std::vector<Samples> submission;  // submitted-only; none on a synchronous stream
  std::vector<Samples> device;      // blocks by the device's own clock, where it has one
  std::vector<Samples> warmup;      // apart, and in no summary
  // Of all processes' lists: exploratory, since processes differ. Count 0: not measured.
  TimeSummary latency_summary, input_copy_summary, throughput_summary, device_summary;
  // The same program with every kernel body empty: what dispatch alone costs. A time of its own.
  std::optional<TimeSummary> dispatch_empty_kernels;
  std::vector<std::string> flags;  // drift, contended, ...: docs/measuring.md
};

struct Interval {
  double estimate = 0;
  std::optional<double> low, high;  // both or neither: one process gives no interval
};

// What a pair says, in one stratum.
struct RatioRecord {
  std::string stratum;
  std::string reason;                  // why there is no estimate; empty when there is one
  std::optional<Interval> time_ratio;  // time of `of` over time of `base`; below 1: faster
  std::optional<Interval> bootstrap, t_interval;          // time_ratio is the wider of the two
  std::string interval_method;                            // which it was
  std::optional<Interval> base_us, of_us, difference_us;  // per step
  std::optional<double> ratio_of_medians;                 // all slots of `of` over all of `base`
  std::optional<double> wins;       // share of blocks in which `of` was faster
  std::optional<double> q1, q3;     // of the blocks' ratios: spread, no interval
  std::vector<double> per_process;  // the unit of inference
  std::int64_t processes = 0, blocks = 0, voided = 0;
  std::optional<double> delta;  // band of SAME: max(1 %, floor of the A/A control)
  std::optional<double> p, p_holm;
  std::string verdict = "exploratory";  // FASTER, SLOWER, SAME, UNDECIDED, exploratory, void
  std::string verdict_reason;
  std::vector<std::string> flags;  // order-effect, autocorrelated, ...
};

// Steps after which an extra one-off cost is paid back.
struct BreakEven {
  std::optional<double> extra_us;  // one-off costs of `of` less those of `base`
  std::optional<double> steps;     // empty: never, or not known
  std::string text;                // "120 steps", "at once", "never", "not known: ..."
};

struct PairRecord {
  std::string base, of;                  // names of arms
  std::string kind = "arm";              // arm; control: A/A; same, planted: of --self-check
  std::vector<ProcessBlocks> processes;  // empty between backends: their slots are those of arms
  std::vector<RatioRecord> ratios;       // one per stratum
  std::optional<BreakEven> break_even;
};

// Was the work of two arms equal?
struct GateRecord {
  std::int64_t process = 0;
  std::string when = "before";  // before or after the timing; after: on other batches
  std::string backend;
  std::string baseline_mode, baseline_fusion = "off";
  std::string mode, fusion = "off";
  std::int64_t batch = 0;
  std::string criterion;  // bits, or a tolerance
  std::int64_t steps = 0;
  bool passed = false;
  std::string detail;  // what differed, with numbers; empty when passed
};

struct ProcessRecord {
  std::int64_t process = 0;
  std::string backend;
  double started_s = 0;             // since the run began
  std::int64_t address_offset = 0;  // of memory, varied between processes
  std::string core_distance;        // near, far, not measured
  std::optional<double> core_round_trip_ns;
  std::optional<std::int64_t> peak_rss;
  std::optional<std::int64_t> steal_ns;  // taken by the host of a virtual machine while it ran
  std::vector<std::int64_t> sentinel_ns;
};

// The schedule, settled before the first timing.
struct ScheduleRecord {
  double budget_s = 0, expected_s = 0;
  std::int64_t processes = 0;  // per backend
  std::int64_t blocks = 0;     // per pair and process
  double slot_ms = 0;
  std::uint64_t seed = 0;
  std::string claim;  // published: 10 processes or more; working: 5 or more; exploratory
};

// An arm now, and in an older record: each in units of its own run's sentinel.
struct BaselineRecord {
  std::string arm;
  std::string reason;  // why there is no comparison
  std::optional<double> then_us, now_us;
  std::optional<Interval> change;  // (now / sentinel now) / (then / sentinel then)
  std::string verdict;             // FASTER, SLOWER, SAME, UNDECIDED
};

// One epoch of `train`. Times are sums over the epoch; parts of the wall time, which also holds the
// loop around them.
struct EpochRecord {
  std::int64_t epoch = 0;    // from 1
  double training_loss = 0;  // mean of the losses read back
  double validation_loss = 0;
  std::optional<double> validation_accuracy;  // empty for a model without labels
  std::int64_t steps = 0, samples_seen = 0, samples_dropped = 0;
  std::string partial_policy;       // drop, second_plan, pad_masked
  std::int64_t loader_workers = 0;  // threads that made the batches; 0: the training thread
  std::int64_t wall_ns = 0;
  std::int64_t data_ns = 0;        // waiting for batches, or making them
  std::int64_t transfer_ns = 0;    // copying them into the input slots
  std::int64_t step_ns = 0;        // submitting steps and waiting for them
  std::int64_t readback_ns = 0;    // losses
  std::int64_t validation_ns = 0;  // everything of the validation
};

struct Record {
  std::string schema = kRecordSchema;
  std::string version;        // of stepscope
  std::string command;        // as given
  std::string created;        // UTC, ISO 8601
  std::string experiment_id;  // ratios are made within one experiment only
  // complete, exploratory, void, inconclusive-environment, unequal-work, not-run, simulated
  std::string status = "complete";
  std::string status_reason;
  WorkFacts work;
  Facts protocol;  // how it was measured: everything that must be equal for two arms to be compared
  std::string protocol_hash;
  std::optional<ScheduleRecord> schedule;
  std::vector<Fact> environment;
  std::vector<std::pair<std::string, Facts>> backends;  // name -> details
  std::vector<CalibrationRow> calibration;
  std::vector<ProcessRecord> processes;
  std::vector<ArmRecord> arms;
  std::vector<PairRecord> pairs;
  std::vector<GateRecord> gates;
  std::vector<BaselineRecord> baseline;
  std::vector<EpochRecord> epochs;            // of `train`
  std::vector<SubmissionRecord> submissions;  // of `train`, by activity
  std::vector<std::string> summary;           // at most five sentences, made from the rest
  std::vector<std::string> notes;             // for people: what this record can and cannot tell
};

}  // namespace stepscope
