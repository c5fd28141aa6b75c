// Compare: modes and fusions of one backend side by side, at several batch sizes, on equal work.
//
// First form: one process per backend, arms interleaved in rounds, quartiles over all steps. It
// gives ratios of medians with their spread and no verdict: a verdict needs several processes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "backends/execution/executor.h"
#include "backends/registry/registry.h"
#include "bench/data/batches.h"
#include "bench/data/load.h"
#include "bench/record/record.h"
#include "graph/passes/fusion.h"
#include "ops/models/model.h"

namespace stepscope {

struct CompareSpec {
  Model model;
  OptimizerSpec optimizer;
  std::string backend;
  std::vector<Mode> modes;
  std::vector<FusionChoice> fusions{FusionChoice{}};  // arms: each of them in each mode
  bool ablate = false;  // all passes, all but one, none, in place of `fusions`
  std::vector<std::int64_t> batches;
  int threads = 1;
  std::string tune_file;    // choices of the library; empty: its own
  std::string tune_digest;  // of that file's bytes
  std::uint64_t seed = 1;
  PartialBatch partial = PartialBatch::second_plan;  // of an epoch of the data: recorded, hashed
  std::chrono::nanoseconds budget{};                 // for all batches together
};

// Told what goes on: a line for people, and the share done in [0, 1]. May throw to stop.
using Progress = std::function<void(const std::string& what, double done)>;

// Arms and gates of one backend. `data` may be null for a model without labels. The first step is
// also compared with the reference backend, unless that is the backend or it computes nothing.
// Where an arm fails the gate, all of that batch stay in the record untimed.
Record compare_backend(const CompareSpec& spec, const Registry& registry, const Data* data,
                       const Progress& progress);

// Between backends, relative, in f32, over at most kGateSteps steps. Sums of a few hundred to a few
// thousand terms leave about 1e-6.
inline constexpr double kBackendTolerance = 1e-5;

}  // namespace stepscope
