// Declaring flags with CLI11, and checking what they say.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

#include "backends/api/record_as.h"
#include "bench/cli/color.h"
#include "bench/cli/model_file.h"
#include "bench/train/weights.h"
#include "ops/base/check.h"
#include "ops/base/nearest.h"
#include "ops/ir/step_file.h"
#include "ops/models/schedule.h"

namespace stepscope::cli {
namespace {

constexpr int kMostThreads = 1024;
constexpr std::int64_t kMostPrefetch = 4096;  // batches; each takes its size in memory

// Of a path: an unset variable of a shell must not count as one that is left out.
std::string why_no_path(const std::string& text) {
  return text.empty() ? "is empty, expected a path" : "";
}

// A flag for a file or a folder.
CLI::Option* add_path(CLI::App& command, const char* flag, std::string& path,
                      const std::string& help) {
  return command.add_option(flag, path, help)->check(why_no_path);
}

template <class F>
auto usage(F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

void check_backend(const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const bool documented = std::find(std::begin(kDocumentedBackends), std::end(kDocumentedBackends),
                                    name) != std::end(kDocumentedBackends);
  check(!documented, Fault::bad_input, "--backend {}: not part of this build, which has {}", name,
        fmt::join(known, ", "));
  fail(Fault::bad_input, "{}", unknown_name("backend", name, known));
}

void check_word(std::string_view kind, const std::string& word,
                std::span<const std::string_view> known) {
  if (std::find(known.begin(), known.end(), word) != known.end()) return;
  throw UsageError(unknown_name(kind, word, std::vector<std::string>(known.begin(), known.end())));
}

// Each value once: an arm that is named twice is one arm.
template <class T>
void keep_first(std::vector<T>& values) {
  std::vector<T> kept;
  for (T& value : values) {
    if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(std::move(value));
  }
  values = std::move(kept);
}

// Modes and fusions, what is usual where nothing is said; each fusion once.
void resolve_arms(Options& options) {
  Flags& flags = options.flags;
  check(!flags.ablate || flags.fusions.empty(), Fault::bad_input,
        "--ablate: it chooses the passes of its arms, leave out --fusion");
  if (flags.modes.empty()) {
    flags.modes = flags.ablate ? std::vector<std::string>{"graph"} : flags.usual_modes;
  }
  for (std::vector<std::string>* words : {&flags.modes, &flags.backends}) keep_first(*words);
  keep_first(flags.batches);
  for (const std::string& mode : flags.modes) options.modes.push_back(mode_from(mode));
  std::vector<std::string> texts;
  for (const std::string& text : flags.fusions.empty() ? flags.usual_fusions : flags.fusions) {
    FusionChoice choice = parse_fusion(text);
    if (std::find(texts.begin(), texts.end(), to_string(choice)) != texts.end()) continue;
    texts.push_back(to_string(choice));
    options.fusions.push_back(std::move(choice));
  }
}

// Choices that decide how a device works.
void resolve_device(Options& options) {
  const Flags& flags = options.flags;
  if (!flags.record.empty()) options.record_as = record_as_from(flags.record);
  check_word("choice of --tf32", flags.tf32, kSwitch);
  options.tf32 = flags.tf32 == "on";
  options.input_copy = input_copy_from(flags.input_copy);
}

// Initial values out of files: those the model names, then those of --weights.
void resolve_weights(Options& options) {
  const Flags& flags = options.flags;
  resolve_files(options.model, std::filesystem::path(flags.model).parent_path());
  check(flags.weights_map.empty() || !flags.weights.empty(), Fault::bad_input,
        "--weights-map: maps names of no file, add --weights FILE");
  if (flags.weights.empty()) return;
  load_weights(options.model, flags.weights,
               flags.weights_map.empty() ? WeightsMap{} : read_weights_map(flags.weights_map));
}

}  // namespace

void add_model_flags(CLI::App& command, Flags& flags) {
  std::string models;
  for (const CatalogEntry& entry : catalog()) {
    models += (models.empty() ? "workload: " : ", ") + std::string(entry.syntax);
  }
  command.add_option("--model", flags.model, models + ", or a step file (FILE.step, or with a /)")
      ->capture_default_str();
  command.add_option("--batch", flags.batches, "rows of a step; several separated by commas")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--optimizer", flags.optimizer, "sgd, momentum or adam")
      ->capture_default_str();
  command.add_option("--lr", flags.rate, "learning rate")->capture_default_str();
  command
      .add_option("--schedule", flags.schedule,
                  "of the rate: constant, step:STEPS[:FACTOR], exponential:FACTOR, "
                  "cosine:STEPS[:FLOOR], or warmup:STEPS[:START],ONE OF THESE")
      ->allow_extra_args(false)
      ->capture_default_str();
  command.add_option("--seed", flags.seed, "of parameters and batch order")->capture_default_str();
}

void add_backend_flags(CLI::App& command, Flags& flags) {
  command.add_option("--backend", flags.backends, "who computes; see `stepscope devices`")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--mode", flags.modes, "eager, planned, graph")
      ->delimiter(',')
      ->default_str(fmt::format("{}", fmt::join(flags.usual_modes, ",")));
  command.add_option("--threads", flags.threads, "threads of the backend")->capture_default_str();
  add_device_flags(command, flags);
}

void add_device_flags(CLI::App& command, Flags& flags) {
  command
      .add_option("--record", flags.record,
                  "how a graph is recorded: capture or nodes, on CUDA; tape, on a processor")
      ->default_str("as the backend does");
  command
      .add_option("--tf32", flags.tf32, "on: products may round their inputs to TF32, on CUDA; off")
      ->capture_default_str();
  command
      .add_option("--input-copy", flags.input_copy,
                  "of a batch into the input slots: outside the recording, or inside it, on CUDA; "
                  "modes eager and planned copy outside")
      ->capture_default_str();
}

void add_fusion_flags(CLI::App& command, Flags& flags) {
  const std::vector<std::string> names = fusion_names();
  command
      .add_option("--fusion", flags.fusions,
                  fmt::format("on, off, the passes to run (fold_sgd,layout), or those to leave out "
                              "(-layout); there are: {}",
                              fmt::join(names, ", ")))
      ->allow_extra_args(false)
      ->default_str(fmt::format("{}", fmt::join(flags.usual_fusions, " and ")));
}

void add_tune_flag(CLI::App& command, Flags& flags) {
  add_path(command, "--tune", flags.tune,
           "file of the library's choices; where it is not there, they are timed first, "
           "written to it and used");
}

void add_data_flags(CLI::App& command, Flags& flags) {
  add_path(command, "--data", flags.data,
           "folder of IDX or GlyphLab files, fashion-mnist, generated, or generated:SEED")
      ->default_str("fashion-mnist where the model fits it, else generated");
}

void add_partial_flag(CLI::App& command, Flags& flags) {
  command
      .add_option(
          "--partial", flags.partial,
          "rows that fill no batch: drop, second_plan (a step of their number) or pad_masked "
          "(a whole step, in which padding counts for nothing)")
      ->capture_default_str();
}

void add_loader_flags(CLI::App& command, Flags& flags) {
  command
      .add_option("--loader-workers", flags.loader_workers,
                  "threads that make batches ahead; 0: the training thread makes them")
      ->capture_default_str();
  command.add_option("--prefetch", flags.prefetch, "batches made ahead")
      ->default_str("two for each worker");
}

void add_checkpoint_flags(CLI::App& command, Flags& flags) {
  add_path(command, "--checkpoint", flags.checkpoint,
           "file to write the state of the run to; written whole or not at all");
  command.add_option("--checkpoint-every", flags.checkpoint_every, "steps between two checkpoints")
      ->default_str("the end of each epoch");
  add_path(command, "--resume", flags.resume, "checkpoint to go on from, bit for bit");
  add_path(command, "--save-weights", flags.save_weights,
           "file for the parameters after the last epoch (safetensors)");
}

void add_weights_flags(CLI::App& command, Flags& flags) {
  add_path(command, "--weights", flags.weights,
           "file of initial parameters: NPZ or safetensors, by name");
  add_path(command, "--weights-map", flags.weights_map,
           "file of lines `parameter = tensor` or `parameter = tensor transposed`, for "
           "--weights with other names");
}

void add_lab_flags(CLI::App& command, Flags& flags) {
  LabFlags& lab = flags.lab;
  flags.usual_modes = {"eager"};
  command
      .add_option("--preset", lab.preset,
                  "lab-cpu: 3 repeats to warm up and 10 timed; gpu-plan: 10 and 30, on a GPU")
      ->capture_default_str();
  command.add_option("--backend", lab.backend, "who computes; see `stepscope devices`")
      ->default_str(fmt::format("{}, with gpu-plan cuda", flags.backends.front()));
  command.add_option("--mode", flags.modes, "eager, planned, graph")
      ->delimiter(',')
      ->default_str("eager");
  command.add_option("--threads", flags.threads, "threads of the backend")->capture_default_str();
  add_device_flags(command, flags);
  command.add_option("--batch", flags.batches, "rows of a step")->delimiter(',')->default_str("32");
  add_path(command, "--data", flags.data,
           "folder of IDX or GlyphLab files of 24 x 24 in three classes, generated, or "
           "generated:SEED")
      ->default_str("generated");
  command.add_option("--seed", lab.seed, "of parameters and order, or of the images to make")
      ->default_str("20261020, with --make-data 1");
  add_path(command, "--report", lab.report, "file for the three lists of the lab")
      ->default_str("measure_report.json, in --out where that is given");
  add_output_flags(command, flags);
  command.add_flag("--fifo", lab.fifo,
                   "work out one stream from --launch and --device; measures nothing");
  command.add_option("--launch", lab.launch, "of --fifo: when each kernel is launched, in ms")
      ->delimiter(',');
  command.add_option("--device", lab.device, "of --fifo: how long each kernel runs, in ms")
      ->delimiter(',');
  command.add_option("--stop", lab.stop, "of --fifo: second stamp of one who does not wait, in ms")
      ->default_str("the last launch");
  add_path(command, "--make-data", flags.make_data,
           "folder to write generated data to, labelled as generated; nothing is measured");
  command
      .add_option("--shape", flags.data_shape,
                  "glyphs: images.npy, labels.npy and metadata.csv of 24 x 24; mnist: IDX files of "
                  "28 x 28")
      ->capture_default_str();
  command.add_option("--images", flags.images, "how many, from 7 on")
      ->default_str("360 glyphs, 7000 of mnist");
}

void add_protocol_flags(CLI::App& command, Flags& flags) {
  command
      .add_option("--budget", flags.budget,
                  "time for all of it, as 170s or 2m: decides how many processes and blocks")
      ->default_str("170s, or 20s with --quick");
  command.add_flag("--quick", flags.quick, "one process: ratios with their spread and no verdict");
  command.add_flag("--dry-run", flags.dry_run,
                   "print the schedule, its duration and the claim that it affords, and stop");
  command.add_flag("--self-check", flags.self_check,
                   "add two arms whose answer is known: the one that the others are compared with, "
                   "once more, and made a tenth slower");
  add_path(command, "--baseline", flags.baseline,
           "older record.json of the same step on this machine: what has moved since");
  command.add_option("--fail-on", flags.fail_on,
                     "slower: exit status 1 when a verdict is SLOWER, or none could be given");
  command.add_option("--worker", flags.worker)->group("");  // for its own processes
}

void add_color_flag(CLI::App& command, Flags& flags) {
  command
      .add_option("--color", flags.color,
                  "of verdicts: auto (on a terminal, unless NO_COLOR is set), always or never")
      ->capture_default_str();
}

void add_output_flags(CLI::App& command, Flags& flags) {
  add_path(command, "--out", flags.out,
           "folder for the record (record.json) and the report of it (report.html, report.md, "
           "tables/*.csv)");
  add_path(command, "--json", flags.json,
           "file for the record; - writes it to standard output and nothing else");
  command.add_flag("--quiet", flags.quiet, "no progress, and no word of what was written");
}

void add_report_flags(CLI::App& command, Flags& flags) {
  command
      .add_option(kFilesOperand, flags.records,
                  "records: files, folders that hold a record.json, or - for standard input")
      ->check(why_no_path)
      ->type_name("");
  add_path(command, "--out", flags.out,
           "folder for the report (report.html, report.md, tables/*.csv)");
  command
      .add_option("--format", flags.forms,
                  "html, md, csv: what to write into --out; one of html and md without --out: to "
                  "standard output")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->default_str("html,md,csv");
  add_path(command, "--baseline", flags.baseline,
           "older record of the same steps on this machine: what has moved since")
      ->default_str("the oldest of the records, for those that share an arm with it");
  command.add_flag(
      "--judge", flags.judge,
      "verdicts and sentences anew, from the raw blocks, by the rules of this version");
  add_path(command, "--json", flags.json,
           "file for the record with what was found against the baseline; - writes it to standard "
           "output and nothing else");
  add_color_flag(command, flags);
  command.add_flag("--quiet", flags.quiet, "no word of what was written");
}

BackendOptions backend_options(const Options& options) {
  return {.threads = options.flags.threads,
          .tune_file = options.flags.tune,
          .record_as = options.record_as,
          .tf32 = options.tf32};
}

double parse_seconds(const std::string& text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const double factor = unit == "s" || unit.empty() ? 1.0
                        : unit == "m"               ? 60.0
                        : unit == "ms"              ? 1e-3
                                                    : 0.0;
  if (error != std::errc() || factor == 0.0 || !std::isfinite(number) || number <= 0.0) {
    throw UsageError(fmt::format("--budget '{}': no duration, as in 170s, 2m or 500ms", text));
  }
  return number * factor;
}

Options resolve(const Flags& flags, const Registry& registry) {
  Options options;
  options.flags = flags;
  usage([&] {
    options.optimizer.kind = optimizer_kind(flags.optimizer);
    options.optimizer.rate = flags.rate;
    options.optimizer.schedule = parse_schedule(flags.schedule);
    check(std::abs(flags.rate) <= std::numeric_limits<float>::max(), Fault::bad_input,
          "--lr: {} is no rate that f32 holds", flags.rate);
    options.model = model_of(flags.model, options.optimizer);
    resolve_weights(options);
    resolve_arms(options);
    resolve_device(options);
    options.partial = parse_partial_batch(flags.partial);
    const std::vector<std::string> known = registry.names();
    for (const std::string& backend : flags.backends) check_backend(backend, known);
    for (const std::int64_t batch : flags.batches) {
      check(batch >= 1 && batch <= kMostBatch, Fault::bad_input,
            "--batch: {} is not between 1 and {}", batch, kMostBatch);
      if (is_step_file(flags.model)) (void)options.model.step(batch);  // throws what is wrong there
    }
    check(flags.threads >= 1 && flags.threads <= kMostThreads, Fault::bad_input,
          "--threads: {} is not between 1 and {}", flags.threads, kMostThreads);
    check(flags.steps >= 0, Fault::bad_input, "--steps: {} is below 0", flags.steps);
    check(flags.loss_every >= 1, Fault::bad_input, "--loss-every: {} is below 1", flags.loss_every);
    check(flags.epochs >= 1, Fault::bad_input, "--epochs: {} is below 1", flags.epochs);
    check(flags.loader_workers >= 0 && flags.loader_workers <= kMostThreads, Fault::bad_input,
          "--loader-workers: {} is not between 0 and {}", flags.loader_workers, kMostThreads);
    check(flags.prefetch >= 0 && flags.prefetch <= kMostPrefetch, Fault::bad_input,
          "--prefetch: {} is not between 1 and {}", flags.prefetch, kMostPrefetch);
    check(flags.prefetch == 0 || flags.loader_workers > 0, Fault::bad_input,
          "--prefetch: nobody makes batches ahead without --loader-workers");
    check(flags.checkpoint_every >= 0, Fault::bad_input, "--checkpoint-every: {} is below 1",
          flags.checkpoint_every);
    check(flags.checkpoint_every == 0 || !flags.checkpoint.empty(), Fault::bad_input,
          "--checkpoint-every: names no file, add --checkpoint FILE");
  });
  check_word("color", flags.color, kColors);
  if (!flags.fail_on.empty() && flags.fail_on != "slower") {
    throw UsageError(
        fmt::format("--fail-on '{}': the only verdict to fail on is slower", flags.fail_on));
  }
  if (flags.quick && options.flags.backends.size() > 1) {
    throw UsageError("--quick: runs in one process, and so with one backend");
  }
  if (flags.quick && (!flags.fail_on.empty() || !flags.baseline.empty())) {
    throw UsageError("--quick: gives no verdict, leave out --fail-on and --baseline");
  }
  options.budget_seconds =
      flags.budget.empty() ? (flags.quick ? 20.0 : 170.0) : parse_seconds(flags.budget);
  return options;
}

}  // namespace stepscope::cli
