// The training loop, with its time split where it is spent.
// SPDX-License-Identifier: Apache-2.0
#include "bench/train/train.h"

#include <algorithm>
#include <utility>

#include "bench/measure/clock.h"
#include "bench/train/loader.h"
#include "bench/train/submissions.h"
#include "bench/train/tensors.h"
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

// One pass over a part of the data.
struct Batches {
  std::vector<BatchRange> ranges;
  std::int64_t batch = 0;   // of a whole one
  std::int64_t pad_to = 0;  // 0: none is padded

  // Rows that the step of a batch computes on.
  std::int64_t rows(const BatchRange& range) const { return pad_to > 0 ? pad_to : range.rows; }

  std::vector<std::int64_t> sizes() const {
    std::vector<std::int64_t> all;
    for (const BatchRange& range : ranges) {
      const std::int64_t size = rows(range);
      if (std::find(all.begin(), all.end(), size) == all.end()) all.push_back(size);
    }
    return all;
  }
};

Batches batches_of(std::int64_t count, std::int64_t batch, PartialBatch partial) {
  return {epoch_batches(count, batch, partial), batch,
          partial == PartialBatch::pad_masked ? batch : 0};
}

Batches training_batches(const Data& data, const TrainSpec& spec) {
  return batches_of(data.training().count, spec.batch, spec.partial);
}

// Validation always sees every row.
Batches validation_batches(const Data& data, const TrainSpec& spec) {
  const std::int64_t count = data.validation().count;
  check(count > 0, Fault::bad_input,
        "{}: {} rows are too few, a fifth of them validates: expected 5 or more", data.train.name,
        data.train.count);
  const PartialBatch partial =
      spec.partial == PartialBatch::drop ? PartialBatch::second_plan : spec.partial;
  return batches_of(count, std::min(spec.batch, count), partial);
}

Facts work_in(const Data& data, const TrainSpec& spec) {
  return spec.work.empty() ? work_of(data, spec) : spec.work;
}

class Trainer {
 public:
  Trainer(Backend& backend, const Data& data, const TrainSpec& spec, const TrainHooks& hooks)
      : spec_(spec),
        hooks_(hooks),
        training_(data.training()),
        validation_(data.validation()),
        batches_(training_batches(data, spec)),
        validation_batches_(validation_batches(data, spec)),
        session_(backend, spec.model,
                 {.mode = spec.mode,
                  .step_batches = batches_.sizes(),
                  .evaluation_batches = validation_batches_.sizes(),
                  .seed = spec.seed,
                  .passes = spec.passes,
                  .input_copy = spec.input_copy}),
        loader_({.workers = spec.loader_workers,
                 .prefetch = spec.prefetch,
                 .largest_rows = spec.batch,
                 .features = training_.data().features,
                 .labels = spec.model.classes > 0}) {
    batches_.ranges.resize(static_cast<std::size_t>(steps_per_epoch(data, spec)));
    at_.seed = spec.seed;
    at_.conditions = conditions_of(backend, spec);
    if (hooks.checkpoint) at_.work = work_in(data, spec);
    warm_up();
  }

  TrainResult run(const Checkpoint* from) {
    if (from != nullptr) go_on(*from);
    while (at_.epoch < spec_.epochs) run_epoch();
    if (hooks_.finished) hooks_.finished(session_);
    return {.epochs = at_.epochs,
            .submissions = {training_count_.record(), validation_count_.record(),
                            warm_up_count_.record()},
            .mode_executed = training_count_.total().steps > 0
                                 ? std::string(name(executed_mode(training_count_.total())))
                                 : std::string()};
  }

 private:
  void warm_up() {
    Counters before = session_.stream().counters();
    session_.warm_up(1, [&] {
      const Counters after = session_.stream().counters();
      warm_up_count_.add(after - std::exchange(before, after));
    });
  }

  void go_on(const Checkpoint& from) {
    const auto steps = static_cast<std::int64_t>(batches_.ranges.size());
    check(from.batches <= steps && from.steps == from.epoch * steps + from.batches,
          Fault::bad_input,
          "checkpoint: step {} of epoch {} is no place in a run of {} steps an epoch", from.batches,
          from.epoch + 1, steps);
    restore(session_, from.tensors);
    Facts work = std::move(at_.work);
    Facts conditions = std::move(at_.conditions);
    at_ = from;
    at_.tensors.clear();
    at_.work = std::move(work);
    at_.conditions = std::move(conditions);
  }

  void run_epoch() {
    EpochRecord& record = at_.unfinished;
    const std::int64_t wall_before = record.wall_ns;  // of the runs before this
    const Stamp begin = now();
    const auto since = [&] { return wall_before + (now() - begin).count(); };
    std::vector<std::uint32_t> order =
        epoch_order(training_.data().count, spec_.seed, static_cast<std::uint64_t>(at_.epoch));
    const auto steps = static_cast<std::int64_t>(batches_.ranges.size());
    const std::span<const BatchRange> left =
        std::span(batches_.ranges).subspan(static_cast<std::size_t>(at_.batches));
    loader_.begin({training_, std::move(order), left, batches_.pad_to});
    for (const BatchRange& range : left) {
      record.wall_ns = since();
      stop_if_asked();
      if (hooks_.progress) {
        hooks_.progress(at_.epoch, static_cast<double>(at_.batches) / static_cast<double>(steps));
      }
      one_step(range);
      record.wall_ns = since();
      if (spec_.checkpoint_every > 0 && at_.steps % spec_.checkpoint_every == 0) save();
    }
    record.wall_ns = since();
    validate();
    finish_epoch(since());
  }

  void one_step(const BatchRange& range) {
    EpochRecord& record = at_.unfinished;
    const std::int64_t rows = batches_.rows(range);
    load(record.data_ns, record.transfer_ns);
    const Counters before = session_.stream().counters();
    {
      Lap lap(record.step_ns);
      session_.enqueue_step(rows);
      session_.stream().wait();
    }
    training_count_.add(session_.stream().counters() - before);
    record.samples_seen += range.rows;
    const bool last = at_.batches + 1 == static_cast<std::int64_t>(batches_.ranges.size());
    if (at_.steps % spec_.loss_every == 0 || last) {
      Lap lap(record.readback_ns);
      const double loss = session_.loss(rows);
      if (hooks_.loss) hooks_.loss(at_.steps, loss);
      at_.loss_sum += loss;
      ++at_.losses;
    }
    ++at_.batches;
    ++at_.steps;
  }

  void load(std::int64_t& data_ns, std::int64_t& transfer_ns) {
    LoadedBatch batch;
    {
      Lap lap(data_ns);
      batch = loader_.next();
    }
    Lap lap(transfer_ns);
    session_.load(batch.x, batch.labels);
  }

  void validate() {
    EpochRecord& record = at_.unfinished;
    const std::int64_t validation_before = record.validation_ns;
    double loss = 0.0;
    std::int64_t correct = 0;
    std::int64_t unused = 0;
    const Stamp begin = now();
    loader_.begin({validation_, file_order(validation_.data().count), validation_batches_.ranges,
                   validation_batches_.pad_to});
    for (const BatchRange& range : validation_batches_.ranges) {
      stop_if_asked();  // the validation is run again from its beginning
      load(unused, unused);
      const Counters before = session_.stream().counters();
      const Evaluation result = session_.evaluate(validation_batches_.rows(range));
      validation_count_.add(session_.stream().counters() - before);
      loss += result.loss * static_cast<double>(range.rows);
      correct += result.correct;
    }
    const auto count = static_cast<double>(validation_.data().count);
    record.validation_loss = loss / count;
    if (spec_.model.classes > 0) record.validation_accuracy = static_cast<double>(correct) / count;
    record.validation_ns = validation_before + (now() - begin).count();
  }

  void finish_epoch(std::int64_t wall_ns) {
    EpochRecord& record = at_.unfinished;
    record.epoch = at_.epoch + 1;
    record.steps = at_.batches;
    record.samples_dropped = training_.data().count - record.samples_seen;
    record.partial_policy = std::string(name(spec_.partial));
    record.loader_workers = spec_.loader_workers;
    record.training_loss = at_.loss_sum / static_cast<double>(at_.losses);
    record.wall_ns = wall_ns;
    at_.epochs.push_back(record);
    record = {};
    ++at_.epoch;
    at_.batches = 0;
    at_.loss_sum = 0.0;
    at_.losses = 0;
    if (spec_.checkpoint_every == 0 || at_.epoch == spec_.epochs) save();
    if (hooks_.epoch) hooks_.epoch(at_.epochs.back());
  }

  void stop_if_asked() {
    if (!hooks_.stop || !hooks_.stop()) return;
    save();
    throw TrainingStopped(at_.epoch + 1, at_.batches);
  }

  void save() {
    if (!hooks_.checkpoint) return;
    at_.tensors = tensors_of(session_);
    hooks_.checkpoint(at_);
    at_.tensors.clear();
  }

  const TrainSpec& spec_;
  const TrainHooks& hooks_;
  Batcher training_;
  Batcher validation_;
  Batches batches_;
  Batches validation_batches_;
  Session session_;
  Loader loader_;
  SubmissionCount training_count_{"training"};
  SubmissionCount validation_count_{"validation"};
  SubmissionCount warm_up_count_{"warm_up"};
  Checkpoint at_;  // where the run is; tensors only while one is handed over
};

}  // namespace

TrainingStopped::TrainingStopped(std::int64_t epoch, std::int64_t step)
    : std::runtime_error(fmt::format("interrupted at epoch {}, step {}", epoch, step)) {}

std::vector<Graph> graphs_of(const Data& data, const TrainSpec& spec) {
  std::vector<Graph> graphs;
  for (const std::int64_t batch : training_batches(data, spec).sizes()) {
    graphs.push_back(spec.model.step(batch));
  }
  for (const std::int64_t batch : validation_batches(data, spec).sizes()) {
    graphs.push_back(spec.model.evaluation(batch));
  }
  return graphs;
}

TrainResult train(Backend& backend, const Data& data, const TrainSpec& spec,
                  const TrainHooks& hooks, const Checkpoint* from) {
  check(spec.model.has_loss(), Fault::bad_input, "model '{}' has no loss, it cannot be trained",
        spec.model.name);
  check(backend.info().computes, Fault::unsupported,
        "backend '{}' computes nothing, it cannot train", backend.name());
  check_fits(data.train, spec.model.name, spec.model.features,
             spec.model.classes > 0 ? spec.model.classes : data.train.classes);
  const std::string why = why_not_partial(spec.model, spec.batch, spec.partial);
  check(why.empty(), Fault::bad_input, "{}", why);
  if (from != nullptr) {
    const std::vector<std::string> other = differences(from->work, work_in(data, spec));
    check(other.empty(), Fault::bad_input, "checkpoint: is one of other work: {}",
          fmt::join(other, "; "));
  }
  return Trainer(backend, data, spec, hooks).run(from);
}

}  // namespace stepscope
