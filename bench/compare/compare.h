// Compare: modes and fusions of one backend side by side, at several batch sizes, on equal work.
// This is the part that runs in one process; several of them make a comparison
// (bench/compare/merge.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backends/execution/executor.h"
#include "backends/registry/registry.h"
#include "bench/data/batches.h"
#include "bench/data/load.h"
#include "bench/measure/calibration.h"
#include "bench/measure/timer.h"
#include "bench/record/record.h"
#include "graph/passes/fusion.h"
#include "ops/models/model.h"

namespace stepscope {

// Whether the instrument is tried out on arms whose answer is known: unfused eager once more, which
// must not be told apart, and once with a tenth of its time added, which must be found slower.
enum class SelfCheck : bool { off, on };

struct CompareSpec {
  Model model;
  OptimizerSpec optimizer;
  std::string backend;
  std::vector<Mode> modes;
  std::vector<FusionChoice> fusions{FusionChoice{}};  // arms: each of them in each mode
  bool ablate = false;  // all passes, all but one, none, in place of `fusions`
  std::vector<std::int64_t> batches;
  int threads = 1;
  std::string tune_file;                             // choices of the library; empty: its own
  std::string tune_digest;                           // of that file's bytes
  std::optional<RecordAs> record_as = std::nullopt;  // nothing: as the backend does
  bool tf32 = false;
  InputCopy input_copy = InputCopy::outside;  // of graph arms
  std::uint64_t seed = 1;
  PartialBatch partial = PartialBatch::second_plan;  // of an epoch of the data: recorded, hashed
  SelfCheck self_check = SelfCheck::off;
};

// What one process does beside its share of the blocks.
enum class Extras : bool {
  none,
  all,  // calibration, the gate against the reference backend, dispatch on empty kernels
};

struct ProcessPlan {
  std::int64_t process = 0;  // its number, from 0; varies addresses and orders
  std::int64_t blocks = 2;   // of every pair; even, so that ABBA and BAAB are equally many
  std::uint64_t seed = 1;    // of the orders
  Extras extras = Extras::none;
  // Whether the calibration probes the machine too, caches and arithmetic: a second and a half.
  CalibrationOptions calibration{};
};

// Where the time of a process went, for the plan of the others.
struct ProcessCosts {
  double rounds_s = 0.0;  // blocks of all pairs
  double extras_s = 0.0;
};

// Told what goes on: a line for people, and the share done in [0, 1]. May throw to stop.
using Progress = std::function<void(const std::string& what, double done)>;

// Arms, pairs and gates of one backend in this process. `data` may be null for a model without
// labels. Where an arm fails a gate, all of that batch stay in the record untimed.
Record run_process(const CompareSpec& spec, const Registry& registry, const Data* data,
                   const ProcessPlan& plan, Timer& timer, const Progress& progress,
                   ProcessCosts* costs = nullptr);

// Of each list of an arm, in each process: steps waited for, and blocks of steps.
inline constexpr std::int64_t kListSamples = 30;
inline constexpr double kListBlockMs = 2.0;  // shortest block of a throughput list
// Both arms of a pair take as many steps in a slot, unless that makes one of their slots more than
// so many times as long as the shortest.
inline constexpr std::int64_t kMostLonger = 4;

// How it is measured: what must be equal for two arms to be compared. Made from the constants that
// the measuring uses, so that no change of one goes unseen.
Facts protocol_facts();

// Between backends, relative, in f32, over at most kGateSteps steps. Sums of a few hundred to a few
// thousand terms leave about 1e-6.
inline constexpr double kBackendTolerance = 1e-5;

}  // namespace stepscope
