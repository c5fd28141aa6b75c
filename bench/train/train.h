// Training on real data: epochs of steps, a validation behind each. docs/training.md is its page.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/execution/session.h"
#include "bench/data/batches.h"
#include "bench/data/load.h"
#include "bench/record/record.h"
#include "bench/train/checkpoint.h"

namespace stepscope {

struct TrainSpec {
  Model model;
  OptimizerSpec optimizer{};  // the model's own; a checkpoint keeps it
  Mode mode = Mode::graph;
  std::int64_t batch = 32;
  std::int64_t epochs = 5;
  std::int64_t most_steps = 0;  // of each epoch; 0: all
  // Steps between two read-backs of the loss; the last of an epoch is always read.
  std::int64_t loss_every = 10;
  std::uint64_t seed = 1;
  PartialBatch partial = PartialBatch::second_plan;
  std::vector<Pass> passes{standard_passes().begin(), standard_passes().end()};
  std::string fusion = "on";          // name of the passes, and
  std::string choices_digest;         // digest of the library's choices: a checkpoint keeps them
  int loader_workers = 0;             // threads that make batches; 0: the training thread
  std::int64_t prefetch = 0;          // batches ahead; 0: two for each worker
  std::int64_t checkpoint_every = 0;  // steps of the run; 0: at the end of each epoch
  InputCopy input_copy = InputCopy::outside;  // in graph mode
  bool tf32 = false;  // the backend may round inputs of products to TF32: other work
  Facts work{};       // work_of() where it was asked for before: it reads all data
};

// All may be empty.
struct TrainHooks {
  // Before each step; `done` is the share of the epoch.
  std::function<void(std::int64_t epoch, double done)> progress;
  // Each loss that was read: step within the run, from 0.
  std::function<void(std::int64_t step, double loss)> loss;
  std::function<void(const EpochRecord&)> epoch;
  // Asked between steps: whether to stop.
  std::function<bool()> stop;
  // When one is due: as `checkpoint_every` says, at the end of the run, and when it is stopped.
  std::function<void(const Checkpoint&)> checkpoint;
  // After the last epoch.
  std::function<void(Session&)> finished;
};

struct TrainResult {
  std::vector<EpochRecord> epochs;  // those before a checkpoint too
  // Of this run alone: training, validation, and the warm-up that made both ready. Validation
  // counts each batch as a step.
  std::vector<SubmissionRecord> submissions;
  std::string mode_executed;  // by what was counted; empty when nothing was trained
};

// Thrown where TrainHooks::stop asked for it, after the checkpoint was handed over.
class TrainingStopped : public std::runtime_error {
 public:
  // Epoch from 1; steps of it that are done.
  TrainingStopped(std::int64_t epoch, std::int64_t step);
};

// The steps and evaluations that training needs, as described: one for each size of batch.
std::vector<Graph> graphs_of(const Data& data, const TrainSpec& spec);

// Why a model cannot be trained under that policy; empty when it can.
std::string why_not_partial(const Model& model, std::int64_t batch, PartialBatch policy);

// What decides the numbers of a run, one by one: model, optimizer, data, batches, seed.
Facts work_of(const Data& data, const TrainSpec& spec);
// What decides their last bits: backend, each of its details, fusion, threads, choices. Not how it
// records, which changes no bit, nor how fast its clocks are.
Facts conditions_of(const Backend& backend, const TrainSpec& spec);

// The steps of an epoch that are run.
std::int64_t steps_per_epoch(const Data& data, const TrainSpec& spec);

// Trains from the model's initial values, or goes on from a checkpoint: then bit for bit as the run
// that made it would have, where conditions_of is the same. The order of epoch e is that of
// bench/data/batches.h. Throws bad_input when the model does not fit the data, or the checkpoint is
// one of other work.
TrainResult train(Backend& backend, const Data& data, const TrainSpec& spec,
                  const TrainHooks& hooks, const Checkpoint* from = nullptr);

}  // namespace stepscope
