// stepscope lab: single batches timed in their stages, a stream worked out on paper, generated data
// as files.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "backends/execution/executor.h"
#include "backends/execution/session.h"
#include "bench/cli/commands.h"
#include "bench/cli/lab_model.h"
#include "bench/cli/lab_record.h"
#include "bench/cli/lab_run.h"
#include "bench/cli/made.h"
#include "bench/cli/progress.h"
#include "bench/cli/report_files.h"
#include "bench/data/make_data.h"
#include "bench/files/files.h"
#include "bench/record/simulated.h"
#include "bench/report/lab_report.h"
#include "graph/passes/fusion.h"
#include "ops/base/check.h"

namespace stepscope::cli {
namespace {

constexpr std::uint64_t kDataSeed = 1;  // of generated files
constexpr const char* kReportFile = "measure_report.json";
constexpr const char* kGpuBackend = "cuda";

// A wrong input of a flag is wrong usage, whoever finds it.
template <class F>
auto usage(F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    if (error.fault() == Fault::bad_input) throw UsageError(error.what());
    throw;
  }
}

int make_files(const Flags& flags) {
  const std::uint64_t seed = flags.lab.seed.value_or(kDataSeed);
  std::vector<std::filesystem::path> files;
  try {
    files = make_data(
        flags.make_data,
        {.shape = parse_data_shape(flags.data_shape), .seed = seed, .images = flags.images},
        is_interrupted);
  } catch (const MakingStopped&) {
    throw Interrupted("interrupted; what was written is taken back");
  } catch (const Error& error) {
    if (error.fault() == Fault::bad_input) throw UsageError(fmt::format("lab: {}", error.what()));
    throw;
  }
  for (const std::filesystem::path& file : files) {
    fmt::print("{}: {}\n", file.string(), generated_label(seed));
  }
  return 0;
}

void check_flags(const Options& options) {
  const Flags& flags = options.flags;
  const LabFlags& lab = flags.lab;
  const bool stream_flags = !lab.launch.empty() || !lab.device.empty() || lab.stop.has_value();
  if (lab.fifo && !flags.make_data.empty()) {
    throw UsageError("lab: --fifo and --make-data are two things to do, give one of them");
  }
  if (!lab.fifo && stream_flags) {
    throw UsageError("lab: --launch, --device and --stop belong to --fifo");
  }
  const bool measures = !lab.fifo && flags.make_data.empty();
  if (!measures && !(lab.report.empty() && flags.out.empty() && flags.json.empty())) {
    throw UsageError(
        "lab: --fifo and --make-data measure nothing, leave out --report, --out and --json");
  }
  if (!lab.report.empty() && !flags.out.empty()) {
    throw UsageError("lab: --report and --out both say where the report goes, give one of them");
  }
  if (options.modes.size() != 1 || flags.batches.size() != 1) {
    throw UsageError("lab: takes one --mode and one --batch");
  }
}

// The backend of the preset, or why there is none.
std::unique_ptr<Backend> backend_for(const LabPreset& preset, const Options& options,
                                     const Registry& registry, LabReport& report) {
  const Flags& flags = options.flags;
  const bool gpu = preset.device == "gpu";
  const std::string& given = flags.lab.backend;
  if (gpu && !given.empty() && given != kGpuBackend) {
    throw UsageError(
        fmt::format("lab: preset {} runs on a GPU, and backend '{}' on none", preset.name, given));
  }
  const std::string backend = !given.empty() ? given : gpu ? kGpuBackend : flags.backends.front();
  report.backend = backend;
  const std::vector<std::string> known = registry.names();
  const bool built = std::find(known.begin(), known.end(), backend) != known.end();
  if (gpu && !built) {
    report.status_reason = fmt::format("backend {} is not part of this build", backend);
    return nullptr;
  }
  try {
    return make_backend(options, registry, backend);
  } catch (const Error& error) {
    if (error.fault() == Fault::bad_input) throw UsageError(error.what());
    if (!gpu) throw;
    report.status_reason = error.what();
    return nullptr;
  }
}

LabReport begin_report(const Options& options, const Record& record, const LabPreset& preset) {
  const Flags& flags = options.flags;
  LabReport report;
  report.version = record.version;
  report.created = record.created;
  report.environment = record.environment;
  report.preset = preset.name;
  report.device = preset.device;
  report.mode = name(options.modes.front());
  report.rate = kLabRate;
  report.threads = flags.threads;
  report.seed = flags.lab.seed.value_or(kLabSeed);
  report.batch_size = flags.batches.front();
  report.warmup = preset.warmup;
  report.repeat = preset.repeat;
  return report;
}

Options of_the_lab(Options options) {
  options.model = make_model("small_cnn", {.kind = OptimizerSpec::Kind::sgd, .rate = kLabRate});
  return options;
}

// What was executed, by what was counted.
std::string measure_report(const Options& options, Backend& backend, LabReport& report) {
  if (!backend.info().computes) {
    throw UsageError(
        fmt::format("--backend: '{}' computes nothing, it has no lab", backend.name()));
  }
  check(!backend.info().simulated, Fault::unsupported,
        "lab: {}, and there is nothing to measure; take another --backend",
        why_simulated({std::string(backend.name())}));
  const Data data = data_for(options);
  report.data = data.source;
  Session session(backend, options.model,
                  {.mode = options.modes.front(),
                   .step_batches = {report.batch_size},
                   .evaluation_batches = {},
                   .seed = report.seed,
                   .passes = passes_for(parse_fusion("off"), backend.wishes()),
                   .input_copy = options.input_copy});
  SteadyTimer timer;
  const Counters before = session.stream().counters();
  usage([&] {
    time_lab(session, data, report, timer, stop_if_interrupted);
    return 0;
  });
  return std::string(name(executed_mode(session.stream().counters() - before)));
}

// Where measure_report.json goes when --out does not say; nowhere where the record alone is wanted.
std::filesystem::path report_path(const Flags& flags) {
  if (!flags.lab.report.empty()) return flags.lab.report;
  return flags.json.empty() ? kReportFile : "";
}

void check_places(const Flags& flags) {
  std::vector<std::filesystem::path> names = output_names();
  names.emplace_back(kReportFile);
  check_outputs(flags, names);
  const std::filesystem::path path = report_path(flags);
  if (flags.out.empty() && !path.empty()) check_can_be_written(path);
}

void write_lab(const Record& record, const LabReport& report, const Flags& flags) {
  if (!flags.out.empty()) {
    const std::filesystem::path path = std::filesystem::path(flags.out) / kReportFile;
    return deliver(record, flags, {{path, lab_json(report)}});
  }
  const std::filesystem::path path = report_path(flags);
  if (!path.empty()) {
    write_file(path, lab_json(report));
    if (!flags.quiet) fmt::print(stderr, "report: {}\n", path.string());
  }
  deliver(record, flags);
}

int run_measurement(const Options& given, const Context& context) {
  const Options options = of_the_lab(given);
  const Flags& flags = options.flags;
  const LabPreset& preset =
      usage([&]() -> const LabPreset& { return lab_preset(flags.lab.preset); });
  check_places(flags);
  Record record = begin_record(context);
  LabReport report = begin_report(options, record, preset);
  const std::unique_ptr<Backend> backend = backend_for(preset, options, context.registry, report);
  std::string executed;
  if (backend == nullptr) {
    report.status = "not-run";
    report.data = flags.data.empty() ? "generated" : flags.data;
  } else {
    executed = measure_report(options, *backend, report);
    record.backends.emplace_back(std::string(backend->name()), Facts(backend->info().details));
  }
  complete_lab_record(record, report, executed);
  if (!json_on_stdout(flags)) fmt::print("{}\n{}", lab_text(report), synchronisation_text());
  std::fflush(stdout);  // before what is said on standard error
  write_lab(record, report, flags);
  return 0;
}

}  // namespace

int run_lab(const Options& options, const Context& context) {
  const Flags& flags = options.flags;
  check_flags(options);
  if (!flags.make_data.empty()) return make_files(flags);
  if (!flags.lab.fifo) return run_measurement(options, context);
  fmt::print("{}", usage([&] {
               return fifo_text({flags.lab.launch, flags.lab.device, flags.lab.stop});
             }));
  return 0;
}

}  // namespace stepscope::cli
