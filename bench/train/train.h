// Training on real data: epochs of steps, a validation behind each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/execution/session.h"
#include "bench/data/batches.h"
#include "bench/data/load.h"
#include "bench/record/record.h"

namespace stepscope {

struct TrainSpec {
  Model model;
  Mode mode = Mode::graph;
  std::int64_t batch = 32;
  std::int64_t epochs = 5;
  std::int64_t most_steps = 0;  // of each epoch; 0: all
  std::int64_t loss_every =
      10;  // steps between two read-backs of the loss; the last is always read
  std::uint64_t seed = 1;
  PartialBatch partial = PartialBatch::second_plan;
  std::vector<Pass> passes{standard_passes().begin(), standard_passes().end()};
};

struct TrainHooks {
  // Before each step; `done` is the share of the epoch. May throw to stop.
  std::function<void(std::int64_t epoch, double done)> progress;
  // Each loss that was read: step within the run, from 0.
  std::function<void(std::int64_t step, double loss)> loss;
  std::function<void(const EpochRecord&)> epoch;
};

// The steps and evaluations that training needs, as described: one for each size of batch.
std::vector<Graph> graphs_of(const Data& data, const TrainSpec& spec);

// Trains from the model's initial values. The order of epoch e is that of bench/data/batches.h.
// Throws bad_input when the model does not fit the data.
std::vector<EpochRecord> train(Backend& backend, const Data& data, const TrainSpec& spec,
                               const TrainHooks& hooks);

}  // namespace stepscope
