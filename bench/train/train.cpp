// The training loop, with its time split where it is spent.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/train.h"

#include <algorithm>

#include "bench/measure/clock.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

// Adds the time from its making to its end to a sum.
class Lap {
 public:
  explicit Lap(std::int64_t& sum) : sum_(sum), begin_(now()) {}
  ~Lap() { sum_ += (now() - begin_).count(); }
  Lap(const Lap&) = delete;
  Lap& operator=(const Lap&) = delete;

 private:
  std::int64_t& sum_;
  Stamp begin_;
};

// Batch sizes that occur among the batches.
std::vector<std::int64_t> sizes_of(const std::vector<BatchRange>& batches) {
  std::vector<std::int64_t> sizes;
  for (const BatchRange& batch : batches) {
    if (std::find(sizes.begin(), sizes.end(), batch.rows) == sizes.end()) {
      sizes.push_back(batch.rows);
    }
  }
  return sizes;
}

struct Batches {
  std::vector<BatchRange> training, validation;
};

Batches batches_of(const Data& data, const TrainSpec& spec) {
  const std::int64_t held_out = data.validation().count;
  // Validation always sees every row.
  return {epoch_batches(data.training().count, spec.batch, spec.partial),
          epoch_batches(held_out, std::min(spec.batch, held_out), PartialBatch::second_plan)};
}

class Trainer {
 public:
  Trainer(Backend& backend, const Data& data, const TrainSpec& spec, const TrainHooks& hooks)
      : spec_(spec),
        hooks_(hooks),
        training_(data.training()),
        validation_(data.validation()),
        batches_(batches_of(data, spec).training),
        validation_batches_(batches_of(data, spec).validation),
        session_(backend, spec.model,
                 {.mode = spec.mode,
                  .step_batches = sizes_of(batches_),
                  .evaluation_batches = sizes_of(validation_batches_),
                  .seed = spec.seed,
                  .passes = spec.passes}),
        x_(static_cast<std::size_t>(spec.batch * training_.data().features)),
        labels_(static_cast<std::size_t>(spec.batch)) {
    if (spec.most_steps > 0 && spec.most_steps < static_cast<std::int64_t>(batches_.size())) {
      batches_.resize(static_cast<std::size_t>(spec.most_steps));
    }
    session_.warm_up(1);
  }

  EpochRecord run_epoch(std::int64_t epoch) {
    EpochRecord record{.epoch = epoch + 1};
    const Stamp begin = now();
    const std::vector<std::uint32_t> order =
        epoch_order(training_.data().count, spec_.seed, static_cast<std::uint64_t>(epoch));
    double loss_sum = 0.0;
    std::int64_t losses = 0;
    for (std::size_t i = 0; i < batches_.size(); ++i) {
      if (hooks_.progress) {
        hooks_.progress(epoch, static_cast<double>(i) / static_cast<double>(batches_.size()));
      }
      const std::int64_t rows = batches_[i].rows;
      load(training_, order, batches_[i], record.data_ns, record.transfer_ns);
      step(rows, record.step_ns);
      record.rows_seen += rows;
      if (step_ % spec_.loss_every == 0 || i + 1 == batches_.size()) {
        loss_sum += read_loss(rows, record.readback_ns);
        ++losses;
      }
      ++step_;
    }
    record.steps = static_cast<std::int64_t>(batches_.size());
    record.rows_dropped = training_.data().count - record.rows_seen;
    record.training_loss = loss_sum / static_cast<double>(losses);
    validate(record);
    record.wall_ns = (now() - begin).count();
    return record;
  }

 private:
  void load(const Batcher& batcher, const std::vector<std::uint32_t>& order,
            const BatchRange& batch, std::int64_t& data_ns, std::int64_t& transfer_ns) {
    const auto rows = static_cast<std::size_t>(batch.rows);
    const std::span<float> x(x_.data(), rows * static_cast<std::size_t>(batcher.data().features));
    const std::span<std::int32_t> labels(labels_.data(), rows);
    {
      Lap lap(data_ns);
      batcher.fill(std::span(order).subspan(static_cast<std::size_t>(batch.first), rows), x,
                   labels);
    }
    Lap lap(transfer_ns);
    session_.load(x, labels);
  }

  void step(std::int64_t rows, std::int64_t& step_ns) {
    Lap lap(step_ns);
    session_.enqueue_step(rows);
    session_.stream().wait();
  }

  double read_loss(std::int64_t rows, std::int64_t& readback_ns) {
    Lap lap(readback_ns);
    const double loss = session_.loss(rows);
    if (hooks_.loss) hooks_.loss(step_, loss);
    return loss;
  }

  void validate(EpochRecord& record) {
    Lap lap(record.validation_ns);
    const std::vector<std::uint32_t> order = file_order(validation_.data().count);
    double loss = 0.0;
    std::int64_t correct = 0;
    std::int64_t unused = 0;
    for (const BatchRange& batch : validation_batches_) {
      load(validation_, order, batch, unused, unused);
      const Evaluation result = session_.evaluate(batch.rows);
      loss += result.loss * static_cast<double>(batch.rows);
      correct += result.correct;
    }
    const auto count = static_cast<double>(validation_.data().count);
    record.validation_loss = loss / count;
    record.validation_accuracy = static_cast<double>(correct) / count;
  }

  const TrainSpec& spec_;
  const TrainHooks& hooks_;
  Batcher training_;
  Batcher validation_;
  std::vector<BatchRange> batches_;
  std::vector<BatchRange> validation_batches_;
  Session session_;
  std::vector<float> x_;  // one batch, {rows, features}
  std::vector<std::int32_t> labels_;
  std::int64_t step_ = 0;  // of the whole run
};

}  // namespace

std::vector<Graph> graphs_of(const Data& data, const TrainSpec& spec) {
  const Batches batches = batches_of(data, spec);
  std::vector<Graph> graphs;
  for (const std::int64_t batch : sizes_of(batches.training)) {
    graphs.push_back(spec.model.step(batch));
  }
  for (const std::int64_t batch : sizes_of(batches.validation)) {
    graphs.push_back(spec.model.evaluation(batch));
  }
  return graphs;
}

std::vector<EpochRecord> train(Backend& backend, const Data& data, const TrainSpec& spec,
                               const TrainHooks& hooks) {
  check(spec.model.classes > 0, Fault::bad_input, "model '{}' has no labels, it cannot be trained",
        spec.model.name);
  check(backend.info().computes, Fault::unsupported,
        "backend '{}' computes nothing, it cannot train", backend.name());
  check_fits(data.train, spec.model.name, spec.model.features, spec.model.classes);
  Trainer trainer(backend, data, spec, hooks);
  std::vector<EpochRecord> epochs;
  for (std::int64_t epoch = 0; epoch < spec.epochs; ++epoch) {
    epochs.push_back(trainer.run_epoch(epoch));
    if (hooks.epoch) hooks.epoch(epochs.back());
  }
  return epochs;
}

}  // namespace stepscope
