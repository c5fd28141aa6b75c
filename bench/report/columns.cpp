// The columns, by what they are about.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/columns.h"

#include <algorithm>
#include <iterator>

#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr auto kText = Table::Align::left;
constexpr auto kNumber = Table::Align::right;

struct Known {
  const char* key;
  const char* title;
  const char* meaning;
  const char* unit = "";
  Table::Align align = kNumber;
  const char* low = "";  // of two numbers in a cell
  const char* high = "";
};

constexpr Known kColumns[] = {
    // Whose row it is.
    {"run", "run", "Number of the record, in the order in which they were given", "", kText},
    {"model", "model", "The model, with its sizes", "", kText},
    {"backend", "backend", "Whose kernels computed the step", "", kText},
    {"batch", "batch", "Rows of a batch"},
    {"arm", "arm",
     "Mode and fusion: eager, planned or graph; fusion off, on (all passes) or a choice of passes",
     "", kText},
    {"base", "base", "The arm that it is divided by, or held against", "", kText},
    {"cores", "cores", "How far apart the two cores of a two-thread run were; never mixed", "",
     kText},
    {"modes", "modes", "Modes whose steps make these very calls", "", kText},
    {"mode", "mode", "How the step was submitted: eager, planned or graph", "", kText},
    {"fusion", "fusion", "Passes that put several ops into one: off, on, or the passes", "", kText},

    // Is the difference real?
    {"time_ratio", "time ratio",
     "Time of the arm over time of its base, per step; below 1 the arm is faster"},
    {"interval", "95 % interval",
     "Where the ratio lies, the process being the unit; a spread is that of blocks, no interval",
     "", kNumber, "interval_low", "interval_high"},
    {"of_medians", "of medians", "Median of all slots of the arm over that of its base"},
    {"base_time", "base time",
     "A step of the base in the blocks of this pair, geometric mean over processes; arm over base "
     "time is not the ratio, which is made block by block",
     "ns"},
    {"arm_time", "arm time",
     "A step of the arm in the blocks of this pair, geometric mean over processes; arm over base "
     "time is not the ratio, which is made block by block",
     "ns"},
    {"base_list_time", "base time",
     "A step of the base in its throughput lists, geometric mean over its processes", "ns"},
    {"arm_list_time", "arm time",
     "A step of the arm in its throughput lists, geometric mean over its processes", "ns"},
    {"p", "p (Holm)",
     "Chance of so clear a ratio if it lay at the edge of SAME; corrected over the whole run"},
    {"verdict", "verdict",
     "FASTER, SLOWER, SAME, UNDECIDED, exploratory or void; without a ratio, why there is none", "",
     kText},
    {"control_verdict", "verdict",
     "holds: 1 lies in the interval at the confidence that the controls of a run share, wider than "
     "95 %, and the floor is 5 % at most; else void; exploratory: too few processes",
     "", kText},
    {"band", "SAME within",
     "The band of SAME: as wide as what the run cannot tell apart, 1 % at least", "", kNumber,
     "band_low", "band_high"},
    {"crossover", "crossover batch",
     "From which batch on the arm stops being FASTER, or begins to be", "", kText},
    {"reason", "reason", "Why, with its numbers", "", kText},
    {"subject", "of", "The arm, or the arm over its base", "", kText},
    {"flag", "flag", "A warning that changes no number", "", kText},
    {"cause", "cause", "Why the blocks are void: they stay in the record and enter no ratio", "",
     kText},
    {"voided", "voided", "Blocks with this cause"},
    {"blocks", "of blocks", "All blocks of the run"},
    {"then", "then", "Median of a step in the older record", "ns"},
    {"now", "now", "Median of a step in this record", "ns"},
    {"change", "change, in sentinels",
     "Now over then, each in units of its own run's sentinel; a change, never a speed-up"},

    // Times.
    {"median", "median", "Half of the samples took less; per step, over all processes", "ns"},
    {"quartiles", "quartiles", "Half of the samples lie between them; type 7", "ns", kNumber, "q1",
     "q3"},
    {"least_most", "least .. most", "Ends of the range; the least is an extreme, not the true time",
     "ns", kNumber, "least", "most"},
    {"outliers", "outliers", "Mild + severe by Tukey's fences at 1.5 and 3 IQR; all are kept", "",
     kNumber, "mild_outliers", "severe_outliers"},
    {"samples", "samples", "How many samples there are, none dropped"},
    {"input_copy", "input copy", "Median of the copy of a batch before a step, timed alone", "ns"},
    {"per_op", "per op", "Dispatch over the ops of the step", "ns"},
    {"dispatch", "dispatch alone",
     "Median of the same step with every kernel empty: a time of its own, in no other", "ns"},
    {"latency", "latency", "Median of steps that were waited for one by one", "ns"},
    {"throughput", "throughput", "Median of steps in blocks, each with its input copy", "ns"},

    {"device_time", "device time",
     "Median of steps in blocks by the device's own clock, gaps in which it waited among them",
     "ns"},

    // Training.
    {"epoch", "epoch", "Passes over the training data, from 1"},
    {"loss", "loss", "Mean of the training losses that were read back"},
    {"val_loss", "val loss", "Mean loss on the validation data"},
    {"val_accuracy", "val acc", "Share of validation images that were classified right", "%"},
    {"wall", "time", "Wall time of the epoch, the loop included", "ns"},
    {"data", "data", "Waiting for batches, or making them", "ns"},
    {"transfer", "transfer", "Copying batches into the input slots", "ns"},
    {"step", "step", "Submitting steps and waiting for them", "ns"},
    {"readback", "readback", "Reading losses back", "ns"},
    {"validation", "validation", "Everything of the validation", "ns"},

    // Counts.
    {"ops", "ops", "Ops of the step's program"},
    {"reorders", "reorders", "Of the ops: those that only change a layout"},
    {"submissions", "submissions", "Launches that the host hands over one by one, and replays"},
    {"replays", "replays", "Of the submissions: replays of a recording"},
    {"nodes", "nodes", "Calls that replays made"},
    {"calls", "calls", "Calls that reached a library or an own kernel"},
    {"by_library", "by library", "Of the calls: of the library that the backend is named after"},
    {"own", "own", "Of the calls: of kernels of stepscope"},
    {"its_flops", "its flops", "Share of the arithmetic in ops whose kernel calls the library",
     "%"},
    {"look_ups", "look-ups", "How often the kernel of an op was looked up"},
    {"recorded_as", "recorded as",
     "How its graph is recorded: tape, capture or nodes; -: nothing is recorded", "", kText},
    {"inputs_copied", "inputs copied", "Outside of the recording, or inside it", "", kText},
    {"phase", "phase", "What the ops are for; a fused op is for several at once", "", kText},
    {"activity", "activity", "What the steps were for: training, validation, warm_up", "", kText},
    {"steps", "steps", "Steps of this activity"},
    {"least_per_step", "least per step", "Fewest submissions of one step"},
    {"median_per_step", "median", "Median submissions of a step"},
    {"most_per_step", "most", "Most submissions of one step"},
    {"input_bytes", "input", "Bytes of a batch, copied into the input slots", "bytes"},
    {"intermediates", "intermediates", "Bytes of computed and saved values, at dense sizes",
     "bytes"},
    {"fewest_bytes", "fewest bytes", "Bytes that a step must move at least: each operand once",
     "bytes"},
    {"flops", "arithmetic", "Operations of a step by the ops' own account", "flop"},

    // Fusion.
    {"pass", "pass", "A rewriting of the step's graph, in running order", "", kText},
    {"ops_before", "ops before", "Ops ahead of the pass"},
    {"ops_removed", "ops removed", "Ops that are gone; below zero: it added some"},
    {"calls_removed", "calls removed", "Calls that are gone"},
    {"bytes_removed", "intermediates removed", "Bytes of intermediate values that are gone",
     "bytes"},
    {"took", "took", "The pass itself, while compiling", "ns"},
    {"without_over_all", "without / all",
     "Time with this pass left out over time with all; above 1 the pass is worth it"},

    // Once.
    {"init", "init", "Making backend, stream and model segment", "ns"},
    {"compile", "compile", "Passes, lowering, plan, binding", "ns"},
    {"capture", "capture", "Recording the step", "ns"},
    {"instantiate", "instantiate", "Making a device graph ready", "ns"},
    {"upload", "upload", "Uploading a device graph", "ns"},
    {"first_step", "first step", "The first step, or the first replay", "ns"},
    {"warm_up", "warm-up", "All steps of the warm-up", "ns"},
    {"compiled_later", "compiled later", "Kernels lowered after the warm-up, over all processes"},
    {"extra", "extra one-off cost",
     "One-off costs of the arm beyond those of its base, median over processes", "ns"},
    {"paid_back", "paid back after", "Steps until the extra cost is earned back, or never, or why",
     "steps", kText},

    // Memory.
    {"when", "when", "Which window: the first step, or the steps after warm-up", "", kText},
    {"allocated", "allocated", "Bytes of live tensors at the window's end", "bytes"},
    {"reserved", "reserved", "Bytes that are held, in use or not", "bytes"},
    {"peak_allocated", "peak allocated", "Most bytes of live tensors within the window", "bytes"},
    {"peak_reserved", "peak reserved", "Most bytes held within the window", "bytes"},
    {"owner", "owner", "Who holds the bytes", "", kText},
    {"layer", "counted by", "Who counts: stepscope, or the system", "", kText},

    // Limits.
    {"intensity", "flop/byte", "Arithmetic over the fewest bytes of a step"},
    {"rate", "GFLOP/s", "Arithmetic of a step over its median time in throughput", "GFLOP/s"},
    {"of_peak", "of peak", "The lower bound by arithmetic over the median time", "%"},
    {"bytes_rate", "GB/s", "Fewest bytes of a step over its median time in throughput", "GB/s"},
    {"of_bandwidth", "of bandwidth", "The lower bound by bandwidth over the median time", "%"},
    {"arith_bound", "arithmetic lower bound",
     "Arithmetic over the peak rate: no step is shorter; neither a kernel's time nor a utilization",
     "ns"},
    {"bandwidth_bound", "bandwidth lower bound",
     "The longest that a level of memory gives: all bytes at the first level's rate, farther on "
     "those that no cache can keep",
     "ns"},
    {"device_busy", "device busy", "Time of a step in which a kernel ran, from a trace", "ns"},
    {"kernel_active", "kernel-active fraction",
     "Share of a sampling window in which a kernel ran: what nvidia-smi calls utilization", "%"},
    {"occupancy", "occupancy", "Resident warps over those that an SM could hold", "%"},
    {"active_sms", "active SM fraction", "Share of SMs with work, from counters only", "%"},

    // Instrument and machine.
    {"calibration", "calibration", "What was measured of instrument and machine", "", kText},
    {"measured_value", "value",
     "Median of its samples; of rows named ..._best the fastest; never subtracted"},
    {"spread", "quartiles", "Half of its samples lie between them", "", kNumber, "low", "high"},
    {"row_unit", "unit", "Of this row", "", kText},
    {"note", "what was run", "What was run, or why there is no value", "", kText},
    {"gate_when", "when", "Before or after the timing", "", kText},
    {"criterion", "by", "Equal bit for bit, or within a tolerance", "", kText},
    {"passed", "passed", "Gates that found losses and parameters equal"},
    {"gates", "of", "Gates of this kind, over all processes"},
    {"detail", "what differed", "The first difference, with its numbers; empty: none", "", kText},
    {"fact", "fact", "Name of the fact", "", kText},
    {"value", "value", "As it was read, or why it is not known", "", kText},

    // The lab.
    {"list", "list", "What each repeat timed", "", kText},
    {"kernel", "kernel", "Number of the kernel, in launch order"},
    {"launch", "launch", "When it was launched", "ms"},
    {"device", "device", "How long it takes on the device", "ms"},
    {"start", "start", "When it begins: launched, and the one before has ended", "ms"},
    {"completion", "completion", "When it ends", "ms"},
    {"kernel_delay", "queue delay", "From launch to start", "ms"},
    {"event_order", "order of events", "In which order stamps, waits and work come", "", kText},
    {"work_begins", "work begins", "When the fake stream starts a kernel", "", kText},
    {"reading", "reading", "What the two stamps say", "ms"},
    {"misses", "misses", "How much of the kernel the reading leaves out", "ms"},
};

}  // namespace

Table::Column column(std::string_view key) {
  const auto* const known = std::find_if(std::begin(kColumns), std::end(kColumns),
                                         [&](const Known& each) { return key == each.key; });
  check(known != std::end(kColumns), Fault::bad_input, "report: there is no column '{}'", key);
  Table::Column column{known->key, known->title, known->meaning, known->unit, known->align, {}};
  if (*known->low != '\0') column.parts = {known->low, known->high};
  return column;
}

std::vector<Table::Column> columns(const std::vector<std::string_view>& keys) {
  std::vector<Table::Column> list;
  for (const std::string_view key : keys) list.push_back(column(key));
  return list;
}

std::vector<std::string_view> column_keys() {
  std::vector<std::string_view> keys;
  for (const Known& known : kColumns) keys.emplace_back(known.key);
  return keys;
}

}  // namespace stepscope
