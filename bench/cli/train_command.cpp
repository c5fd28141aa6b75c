// stepscope train
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>

#include "backends/api/record_as.h"
#include "bench/cli/commands.h"
#include "bench/cli/made.h"
#include "bench/cli/progress.h"
#include "bench/cli/run_text.h"
#include "bench/cli/tune.h"
#include "bench/measure/facts_hash.h"
#include "bench/record/simulated.h"
#include "bench/report/renderers.h"
#include "bench/report/tables.h"
#include "bench/report/text.h"
#include "bench/train/train.h"
#include "bench/train/weights.h"
#include "ops/base/error.h"
#include "ops/models/schedule.h"

namespace stepscope::cli {
namespace {

void check_flags(const Options& options) {
  const Flags& flags = options.flags;
  if (flags.backends.size() != 1 || options.modes.size() != 1 || flags.batches.size() != 1 ||
      options.fusions.size() != 1) {
    throw UsageError("train: takes one --backend, one --mode, one --fusion and one --batch");
  }
  if (!options.model.has_loss()) {
    throw UsageError(
        fmt::format("train: model '{}' has no loss, it cannot be trained", options.model.name));
  }
  const std::string why = why_not_partial(options.model, flags.batches.front(), options.partial);
  if (!why.empty()) throw UsageError("--partial: " + why);
}

TrainSpec spec_of(const Options& options) {
  const Flags& flags = options.flags;
  return {.model = options.model,
          .optimizer = options.optimizer,
          .mode = options.modes.front(),
          .batch = flags.batches.front(),
          .epochs = flags.epochs,
          .most_steps = flags.steps,
          .loss_every = flags.loss_every,
          .seed = flags.seed,
          .partial = options.partial,
          .fusion = to_string(options.fusions.front()),
          .loader_workers = flags.loader_workers,
          .prefetch = flags.prefetch,
          .checkpoint_every = flags.checkpoint_every,
          .input_copy = options.input_copy,
          .tf32 = options.tf32};
}

// A run from the beginning would replace in its first epoch what others took hours to reach.
void check_no_checkpoint_is_lost(const Flags& flags) {
  std::error_code error;
  if (flags.checkpoint.empty() || !std::filesystem::exists(flags.checkpoint, error)) return;
  if (std::filesystem::equivalent(flags.checkpoint, flags.resume, error)) return;
  throw UsageError(fmt::format(
      "--checkpoint {0}: is there already; go on from it with --resume {0}, or remove it",
      flags.checkpoint));
}

// The checkpoint that --resume names, if it is one of this run.
std::optional<Checkpoint> checkpoint_of(const Flags& flags, const TrainSpec& spec) {
  if (flags.resume.empty()) return std::nullopt;
  Checkpoint from = read_checkpoint(flags.resume);
  const std::vector<std::string> other = differences(from.work, spec.work);
  if (!other.empty()) {
    throw UsageError(fmt::format("--resume {}: is a checkpoint of other work: {}", flags.resume,
                                 fmt::join(other, "; ")));
  }
  if (from.epoch > spec.epochs || (from.epoch == spec.epochs && from.batches > 0)) {
    throw UsageError(
        fmt::format("--epochs {}: the checkpoint {} is beyond that, at epoch {}, step {}",
                    spec.epochs, flags.resume, from.epoch + 1, from.batches));
  }
  if (from.epoch == spec.epochs && !flags.quiet) {
    fmt::print(stderr, "resume: {}: already at the end, epoch {} of {}: nothing is trained\n",
               flags.resume, from.epoch, spec.epochs);
  }
  return from;
}

// Says what breaks the equality of bits, to the user now and to the record for good.
void note_conditions(Checkpoint& from, const Facts& conditions, const std::string& file) {
  const std::vector<std::string> other = differences(from.conditions, conditions);
  if (other.empty()) return;
  const std::string note =
      fmt::format("from epoch {}, step {} on this is no continuation bit for bit: {}",
                  from.epoch + 1, from.batches, fmt::join(other, "; "));
  fmt::print(stderr, "resume: {}: {}\n", file, note);
  from.notes.push_back(note);
}

// What the loop tells, on the terminal.
class Talk {
 public:
  Talk(const Flags& flags, const TrainSpec& spec)
      : talk_(!json_on_stdout(flags)),
        epochs_(spec.epochs),
        line_(flags.quiet ? ProgressLine::Show::never : ProgressLine::Show::on_terminal) {}

  void begin(const TrainSpec& spec, const Flags& flags, const Backend& backend, const Data& data) {
    if (!talk_) return;
    const BackendInfo& info = backend.info();
    const ScheduleAttrs& schedule = spec.optimizer.schedule;
    fmt::print("{} on {}, {}, fusion {}, batch {}, {} {}{}, data: {}\n", spec.model.name,
               labelled(info.name, info.simulated), name(spec.mode), spec.fusion, spec.batch,
               flags.optimizer, flags.rate,
               schedule.is_constant() ? "" : fmt::format(" ({})", schedule_text(schedule)),
               data.source);
    if (info.simulated) fmt::print("{}: {}\n", kSimulated, times_of_simulated({info.name}));
    fmt::print("{}", epoch_header());
    std::fflush(stdout);
  }
  void progress(std::int64_t epoch, double done) {
    if (!line_.is_due()) return;
    const std::string loss = last_loss_ ? fmt::format(", loss {:.4f}", *last_loss_) : "";
    line_.show(fmt::format("epoch {} of {}{}", epoch + 1, epochs_, loss),
               (static_cast<double>(epoch) + done) / static_cast<double>(epochs_));
  }
  void loss(double value) { last_loss_ = value; }
  void epoch(const EpochRecord& epoch) {
    line_.clear();
    if (!talk_) return;
    fmt::print("{}", epoch_row(epoch));
    std::fflush(stdout);
  }
  void end(const TrainResult& result) {
    if (!talk_) return;
    fmt::print("{}", terminal_text(submissions_table(result.submissions)));
    std::fflush(stdout);
  }
  void clear() { line_.clear(); }

 private:
  bool talk_;
  std::int64_t epochs_;
  ProgressLine line_;
  std::optional<double> last_loss_;  // none was read yet
};

// `weights_failed` keeps what went wrong with them, so that the record of the run is not lost too.
TrainHooks hooks_for(Talk& talk, const Flags& flags, std::exception_ptr& weights_failed) {
  TrainHooks hooks;
  hooks.progress = [&](std::int64_t epoch, double done) { talk.progress(epoch, done); };
  hooks.loss = [&](std::int64_t, double loss) { talk.loss(loss); };
  hooks.epoch = [&](const EpochRecord& epoch) { talk.epoch(epoch); };
  hooks.stop = is_interrupted;
  if (!flags.checkpoint.empty()) {
    hooks.checkpoint = [&](const Checkpoint& at) { write_checkpoint(flags.checkpoint, at); };
  }
  if (!flags.save_weights.empty()) {
    hooks.finished = [&](Session& session) {
      try {
        save_weights(session, flags.save_weights);
        if (!flags.quiet) fmt::print(stderr, "weights: {}\n", flags.save_weights);
      } catch (const Error&) {
        weights_failed = std::current_exception();
      }
    };
  }
  return hooks;
}

TrainResult run(Backend& backend, const Data& data, const TrainSpec& spec, const Flags& flags,
                const Checkpoint* from, std::exception_ptr& weights_failed) {
  Talk talk(flags, spec);
  talk.begin(spec, flags, backend, data);
  if (from != nullptr) {
    for (const EpochRecord& epoch : from->epochs) talk.epoch(epoch);
  }
  try {
    TrainResult result = train(backend, data, spec, hooks_for(talk, flags, weights_failed), from);
    talk.end(result);
    return result;
  } catch (const TrainingStopped& stopped) {
    talk.clear();
    throw Interrupted(
        flags.checkpoint.empty()
            ? fmt::format("{}; nothing was written", stopped.what())
            : fmt::format("{}; go on with --resume {}", stopped.what(), flags.checkpoint));
  }
}

ArmRecord arm_of(const Backend& backend, const TrainSpec& spec, const Data& data) {
  EpochCounts counts = epoch_counts(data.training().count, spec.batch, spec.partial);
  if (steps_per_epoch(data, spec) < counts.steps) {
    const std::int64_t seen = spec.most_steps * spec.batch;
    counts = {spec.most_steps, seen, data.training().count - seen};
  }
  return {
      .name = fmt::format("{}/{}/{}/{}", backend.name(), name(spec.mode), spec.fusion, spec.batch),
      .backend = std::string(backend.name()),
      .simulated = backend.info().simulated,
      .mode_requested = std::string(name(spec.mode)),
      .recorded_as =
          spec.mode == Mode::graph ? std::string(name(backend.records_as())) : std::string(),
      .inputs_copied =
          std::string(name(spec.mode == Mode::graph ? spec.input_copy : InputCopy::outside)),
      .fusion = spec.fusion,
      .batch = spec.batch,
      .threads = backend.info().threads,
      .work = spec.work,
      .work_hash = hash_of(spec.work),
      .scope = "pipeline",
      .includes = {"loader", "input_copy", "readback", "validation"},
      .steps = counts.steps,
      .samples_seen = counts.samples_seen,
      .samples_dropped = counts.samples_dropped,
      .partial_policy = std::string(name(spec.partial))};
}

void add_notes(Record& record, const TrainSpec& spec, const Flags& flags,
               const std::optional<Checkpoint>& from) {
  record.notes.push_back(fmt::format(
      "training_loss is the mean of the losses read back, every {} steps", spec.loss_every));
  const auto diverged =
      std::find_if(record.epochs.begin(), record.epochs.end(), [](const EpochRecord& epoch) {
        return !std::isfinite(epoch.training_loss) || !std::isfinite(epoch.validation_loss);
      });
  if (diverged != record.epochs.end()) {
    record.notes.push_back(fmt::format("the loss is not finite from epoch {} on", diverged->epoch));
  }
  if (from) {
    record.notes.push_back(fmt::format("resumed from {} at epoch {}, step {}", flags.resume,
                                       from->epoch + 1, from->batches));
    record.notes.push_back("submissions are those of the steps behind that");
    for (const std::string& note : from->notes) record.notes.push_back(note);
  }
}

}  // namespace

int run_train(const Options& options, const Context& context) {
  const Flags& flags = options.flags;
  check_flags(options);
  TrainSpec spec = spec_of(options);
  check_outputs(flags);
  check_no_checkpoint_is_lost(flags);
  const Data data = data_for(options);
  if (spec.batch > data.training().count) {
    throw UsageError(fmt::format("--batch: {} rows, the training data have {}", spec.batch,
                                 data.training().count));
  }
  spec.work = work_of(data, spec);
  std::optional<Checkpoint> from = checkpoint_of(flags, spec);
  make_choices(options, context.registry, graphs_of(data, spec));
  const std::unique_ptr<Backend> backend =
      make_backend(options, context.registry, flags.backends.front());
  if (!backend->info().computes) {
    throw UsageError(
        fmt::format("--backend: '{}' computes nothing, it cannot train", backend->name()));
  }
  spec.passes = passes_for(options.fusions.front(), backend->wishes());
  spec.choices_digest = choices_digest(options);
  if (from) note_conditions(*from, conditions_of(*backend, spec), flags.resume);

  Record record = begin_record(context);
  record.work = {spec.model.name,
                 flags.optimizer,
                 flags.rate,
                 data.source,
                 "f32",
                 spec.seed,
                 schedule_text(spec.optimizer.schedule),
                 options.tf32};
  record.backends.emplace_back(std::string(backend->name()), Facts(backend->info().details));
  record.arms.push_back(arm_of(*backend, spec, data));
  std::exception_ptr weights_failed;
  TrainResult result = run(*backend, data, spec, flags, from ? &*from : nullptr, weights_failed);
  record.epochs = std::move(result.epochs);
  record.submissions = std::move(result.submissions);
  record.arms.front().mode_executed = result.mode_executed;
  add_notes(record, spec, flags, from);
  add_simulated_note(record);
  if (is_simulated(record)) {
    record.status = kSimulated;
    record.status_reason = why_simulated(simulated_backends(record));
  }
  record.summary = train_summary(record);
  deliver(record, flags);
  if (weights_failed) std::rethrow_exception(weights_failed);
  return 0;
}

}  // namespace stepscope::cli
