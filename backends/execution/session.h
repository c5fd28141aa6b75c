// Session: one model on one backend in one mode, ready to be stepped. The steps of different batch
// sizes and the evaluations share parameters and states.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backends/execution/executor.h"
#include "backends/execution/input_source.h"
#include "graph/passes/pass.h"
#include "ops/models/model.h"

namespace stepscope {

struct SessionOptions {
  Mode mode = Mode::eager;
  std::vector<std::int64_t> step_batches;        // batch sizes that will be trained
  std::vector<std::int64_t> evaluation_batches;  // batch sizes that will be evaluated
  std::uint64_t seed = 1;                        // of the initial parameters
  DType dtype = DType::f32;                      // f64: reference only
  std::vector<Pass> passes{standard_passes().begin(), standard_passes().end()};
  InPlace in_place = InPlace::on;
  // inside: unsupported in mode graph where recordings hold no copies; the other modes do not read
  // it.
  InputCopy input_copy = InputCopy::outside;
  ExecutorOptions executor;
  // Shifts the model segment, for tests of what alignment does to bits; as address_offset there.
  std::size_t model_offset = 0;
};

struct Evaluation {
  double loss = 0.0;         // mean over the rows of the batch
  std::int64_t correct = 0;  // rows classified right; 0 without labels
};

class Session {
 public:
  // Compiles everything and writes the initial values. The backend must outlive the session.
  Session(Backend& backend, const Model& model, SessionOptions options);

  // Parameters and states as they were at the beginning.
  void reset();
  // Runs every program of the session a few times, so that lazy work is done and caches are warm,
  // then restores the model segment: warming up does not train. `after_each` is called behind each
  // of these steps and evaluations.
  void warm_up(int rounds = 3, const std::function<void()>& after_each = {});

  // Copies one batch into the input slots; labels stay empty for a model without any. A label of
  // -1 leaves its row out of the loss (ops/ir/labels.h).
  // Requires: x has rows * features elements, and labels lie in [-1, classes). Throws bad_input
  // otherwise, with the numbers.
  void load(std::span<const float> x, std::span<const std::int32_t> labels);

  // Submits one step, or evaluation, of `batch` rows on the loaded inputs. Throws bad_input when
  // the session was not made for that batch size, or other than `batch` rows were loaded last: no
  // step trains on rows left over from another batch.
  void enqueue_step(std::int64_t batch);
  Evaluation evaluate(std::int64_t batch);

  // Waits and reads back: the kept `loss` of the last step of that batch size (0 without a loss).
  double loss(std::int64_t batch);
  // A kept value of the step, a parameter or a state, as doubles.
  std::vector<double> read(std::string_view name);
  std::vector<double> read_kept(std::int64_t batch, std::string_view name);
  // All parameters and states, by name, as raw bytes.
  std::map<std::string, std::vector<std::byte>> parameters_and_states();

  Executor& step(std::int64_t batch);
  Executor& evaluation(std::int64_t batch);
  Stream& stream() { return *stream_; }
  Backend& backend() { return backend_; }
  ModelMemory& memory() { return *memory_; }
  KernelCache& cache() { return cache_; }
  const Model& model() const { return model_; }
  const SessionOptions& options() const { return options_; }
  // What making it cost once.
  const SetupTimes& setup_times() const { return setup_times_; }
  // Kernels lowered so far. A steady step lowers none, unless eager runs without its cache.
  std::uint64_t lowerings() const { return cache_.lowerings(); }

  // Memory of the step of that batch size: the model segment and what its executor holds
  // (Executor::memory_use says what counts). Memory that a library takes for itself is not known.
  MemoryUse memory_use(std::int64_t batch);
  std::vector<MemoryPart> memory_parts(std::int64_t batch);

  // What the passes did to the step of that batch size.
  const std::vector<PassReport>& pass_reports(std::int64_t batch) const;

 private:
  struct Compiled {
    std::unique_ptr<Executor> executor;
    std::vector<PassReport> reports;
  };

  void compile_all();
  Compiled compiled(PipelineResult result);
  void add_setup_times(const SetupTimes& more);
  void check_labels(std::span<const std::int32_t> labels) const;
  void check_loaded(std::int64_t batch, std::string_view what) const;
  PipelineResult prepare(const Graph& graph) const;
  void write_input(std::string_view name, std::span<const std::byte> bytes);
  static Executor& find(std::map<std::int64_t, Compiled>& programs, std::int64_t batch,
                        std::string_view what);
  std::vector<double> read_value(const Executor& executor, ValueId id);

  Backend& backend_;
  Model model_;
  SessionOptions options_;
  std::unique_ptr<Stream> stream_;
  KernelCache cache_;
  std::unique_ptr<ModelMemory> memory_;
  std::unique_ptr<InputSource> inputs_;  // null: inputs are copied outside of recordings
  std::map<std::int64_t, Compiled> steps_;
  std::map<std::int64_t, Compiled> evaluations_;
  SetupTimes setup_times_;
  std::int64_t loaded_rows_ = 0;  // by the last load
};

}  // namespace stepscope
