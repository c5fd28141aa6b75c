// Record: the facts of one run, as plain data. No behaviour; it knows no clock and no backend.
// bench/record/json.h writes and reads it. A field that was not measured is empty, never zero.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stepscope {

inline constexpr const char* kRecordSchema = "stepscope-record 3";

// name -> value, in a fixed order.
using Facts = std::vector<std::pair<std::string, std::string>>;

// What was asked for, as far as it decides the work.
struct WorkFacts {
  std::string model;      // canonical: mlp:784-128-10
  std::string optimizer;  // sgd, momentum, adam
  double rate = 0.0;
  std::string data;  // source; "generated" says so
  std::string dtype = "f32";
  std::uint64_t seed = 0;
};

// Times of consecutive steps of one arm, restarted from the same snapshot. In nanoseconds.
struct SlotSamples {
  std::int64_t round = 0;                   // slots of one round belong together
  std::int64_t position = 0;                // place within the round
  std::vector<std::int64_t> wall_ns;        // submit one step and wait for it
  std::vector<std::int64_t> input_copy_ns;  // copy of the batch into the input slots, before it
};

// Quartiles are of type 7 (Hyndman and Fan 1996), over all steps of all slots.
struct TimeSummary {
  std::int64_t count = 0;
  double min_ns = 0, q1_ns = 0, median_ns = 0, q3_ns = 0, max_ns = 0, mean_ns = 0;
};

// Exact counts of one steady step, from its graph and from the stream.
struct StepCounts {
  std::uint64_t ops = 0;          // in the program; each is one launch
  std::uint64_t reorders = 0;     // of them: ops that only change a layout
  std::uint64_t submissions = 0;  // launches handed over one by one, or replays
  std::uint64_t calls = 0;        // that reached a library or an own kernel
  std::uint64_t library_calls = 0, own_calls = 0;
  std::uint64_t lookups = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t intermediate_bytes = 0;  // computed and saved values, at their dense sizes
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

// An arm's time over that of another arm of the same backend and batch. Above 1: slower.
struct RatioRecord {
  std::string mode, fusion;  // of the arm that it is divided by
  double medians = 0;        // median of all steps over median of all steps
  // Slots of one round stand side by side in time: quartiles, over the rounds, of the ratio of
  // their medians.
  double q1 = 0, q3 = 0;
};

struct ArmRecord {
  std::string backend;
  std::string mode_requested, mode_executed;
  std::string fusion = "off";  // canonical: off, on, the passes, or what is left out
  std::int64_t batch = 0;
  int threads = 1;
  std::string work_hash;  // SHA-256; arms with different hashes get no ratio
  // Of one epoch of the data at this batch size; empty where no data are read.
  std::optional<std::int64_t> steps, samples_seen, samples_dropped;
  std::string partial_policy;
  StepCounts counts;
  std::uint64_t reserved_bytes = 0;  // arena, or blocks of the pool
  std::uint64_t model_bytes = 0;     // model segment
  double flops = 0;                  // arithmetic of one step, by the ops' own account
  double library_flops = 0;          // of them: in ops whose kernel calls the library
  std::int64_t setup_ns = 0;         // passes, lowering, plan, binding, recording
  std::vector<PassRecord> passes;
  std::vector<SlotSamples> slots;
  TimeSummary wall, input_copy;
  std::vector<RatioRecord> ratios;
  // The same program with every kernel body empty: what dispatch alone costs. A time of its own.
  std::optional<TimeSummary> dispatch_empty_kernels;
};

// Was the work of two arms equal?
struct GateRecord {
  std::string backend;
  std::string baseline_mode, baseline_fusion = "off";
  std::string mode, fusion = "off";
  std::int64_t batch = 0;
  std::string criterion;  // bits, or a tolerance
  std::int64_t steps = 0;
  bool passed = false;
  std::string detail;  // what differed, with numbers; empty when passed
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
  std::string version;  // of stepscope
  std::string command;  // as given
  std::string created;  // UTC, ISO 8601
  WorkFacts work;
  Facts environment;
  std::vector<std::pair<std::string, Facts>> backends;  // name -> details
  std::vector<ArmRecord> arms;
  std::vector<GateRecord> gates;
  std::vector<EpochRecord> epochs;  // of `train`
  std::vector<std::string> notes;   // for people: what this record can and cannot tell
};

}  // namespace stepscope
