// stepscope train
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>

#include "bench/cli/commands.h"
#include "bench/cli/progress.h"
#include "bench/train/train.h"
#include "bench/cli/tune.h"
#include "bench/report/text.h"

namespace stepscope::cli {
namespace {

TrainSpec spec_of(const Options& options) {
  const Flags& flags = options.flags;
  if (flags.backends.size() != 1 || options.modes.size() != 1 || flags.batches.size() != 1 ||
      options.fusions.size() != 1) {
    throw UsageError("train: takes one --backend, one --mode, one --fusion and one --batch");
  }
  if (options.model.classes == 0) {
    throw UsageError(
        fmt::format("train: model '{}' has no labels, it cannot be trained", options.model.name));
  }
  return {.model = options.model,
          .mode = options.modes.front(),
          .batch = flags.batches.front(),
          .epochs = flags.epochs,
          .most_steps = flags.steps,
          .loss_every = flags.loss_every,
          .seed = flags.seed,
          .partial = options.partial};
}

}  // namespace

int run_train(const Options& options, const Context& context) {
  const Flags& flags = options.flags;
  TrainSpec spec = spec_of(options);
  const Data data = data_for(options);
  if (spec.batch > data.training().count) {
    throw UsageError(fmt::format("--batch: {} rows, the training data have {}", spec.batch,
                                 data.training().count));
  }
  make_choices(options, context.registry, graphs_of(data, spec));
  const std::unique_ptr<Backend> backend = context.registry.make(
      flags.backends.front(), {.threads = flags.threads, .tune_file = choices_file(options)});
  spec.passes = passes_for(options.fusions.front(), backend->layouts());
  const std::string fusion = to_string(options.fusions.front());

  const bool talk = !json_on_stdout(flags);
  if (talk) {
    fmt::print("{} on {}, {}, fusion {}, batch {}, {} {}, data: {}\n", spec.model.name,
               backend->name(), name(spec.mode), fusion, spec.batch, flags.optimizer, flags.rate,
               data.source);
    fmt::print("{}", epoch_header());
    std::fflush(stdout);
  }
  ProgressLine line(flags.quiet ? ProgressLine::Show::never : ProgressLine::Show::on_terminal);
  double last_loss = 0.0;
  TrainHooks hooks;
  hooks.progress = [&](std::int64_t epoch, double done) {
    line.update(fmt::format("epoch {} of {}, loss {:.4f}", epoch + 1, spec.epochs, last_loss),
                done);
  };
  hooks.loss = [&](std::int64_t, double loss) { last_loss = loss; };
  hooks.epoch = [&](const EpochRecord& epoch) {
    line.clear();
    if (!talk) return;
    fmt::print("{}", epoch_row(epoch));
    std::fflush(stdout);
  };

  Record record = begin_record(context);
  record.work = {spec.model.name, flags.optimizer, flags.rate, data.source, "f32", spec.seed};
  record.backends.emplace_back(std::string(backend->name()), Facts(backend->info().details));
  record.arms.push_back({.backend = std::string(backend->name()),
                         .mode_requested = std::string(name(spec.mode)),
                         .fusion = fusion,
                         .batch = spec.batch,
                         .threads = backend->info().threads});
  record.epochs = train(*backend, data, spec, hooks);
  record.notes.push_back(fmt::format(
      "training_loss is the mean of the losses read back, every {} steps", spec.loss_every));
  deliver(record, flags);
  return 0;
}

}  // namespace stepscope::cli
