// stepscope explain: the step before and after each pass, its plan, and its launches.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "backends/execution/recording_dot.h"
#include "backends/execution/session.h"
#include "bench/cli/command_text.h"
#include "bench/cli/commands.h"
#include "bench/cli/made.h"
#include "bench/cli/tune.h"
#include "bench/record/simulated.h"
#include "bench/report/numbers.h"
#include "ops/base/nearest.h"
#include "ops/ir/print.h"

namespace stepscope::cli {
namespace {

void print_pass(const Pass& pass, const PassReport& report) {
  const auto bytes = static_cast<double>(report.intermediate_bytes_removed);
  fmt::print("# pass {}: {}\n# {} -> {} ops, {} of intermediates {}, {}\n", report.name,
             pass.summary, report.ops_before, report.ops_after, bytes_text(std::abs(bytes)),
             bytes < 0 ? "added" : "removed", time_text(static_cast<double>(report.time.count())));
  for (const std::string& note : report.notes) fmt::print("# {}\n", note);
}

// One by one, so that the graph between two passes can be seen. Returns what runs.
void print_passes(Graph graph, const std::vector<Pass>& passes) {
  std::string text = to_text(graph);
  for (const Pass& pass : passes) {
    PipelineResult result = run_passes(std::move(graph), std::span(&pass, 1));
    graph = std::move(result.graph);
    const PassReport& report = result.reports.front();
    std::string after = to_text(graph);
    if (after == text) {
      const std::string why = fmt::format("{}", fmt::join(report.notes, "; "));
      fmt::print("# pass {}: changes nothing{}{}\n\n", report.name, why.empty() ? "" : ": ", why);
      continue;
    }
    text = std::move(after);
    print_pass(pass, report);
    fmt::print("\n{}\n", text);
  }
}

// Passes that were chosen and that the backend does not run.
void print_unused(const FusionChoice& choice, const std::vector<Pass>& passes,
                  std::string_view backend) {
  for (const std::string& chosen : choice.passes) {
    const bool runs = std::any_of(passes.begin(), passes.end(),
                                  [&](const Pass& pass) { return pass.name == chosen; });
    if (!runs) fmt::print("# pass {}: not run, {} has no use for it\n\n", chosen, backend);
  }
}

// Runs one step, on rows of zeros, and prints what the stream logged.
void print_launches(Session& session, std::int64_t batch) {
  Executor& executor = session.step(batch);
  std::size_t calls = 0;
  for (const Kernel* kernel : executor.program().kernels) calls += kernel->calls();
  session.stream().keep_log(calls);
  executor.enqueue(session.stream());
  session.stream().wait();
  for (const LogEntry& entry : session.stream().log()) {
    const OpSite& site = entry.kernel->site();
    std::string types;
    for (const TensorType& type : site.in) types += (types.empty() ? "" : ", ") + to_string(type);
    fmt::print("{:>4}  {:<24} {:<8} {}\n", entry.op, name(site.kind),
               entry.by == CallBy::library ? "library" : "own", types);
  }
}

// The step as it runs, for other programs.
std::string step_text(Session& session, const BackendInfo& info, const std::string& format,
                      std::int64_t batch) {
  const Executor& executor = session.step(batch);
  if (format == "ir") return to_text(executor.graph());
  if (format == "dot") return to_dot(executor.graph());
  return to_dot(*executor.recording(), executor.graph(), labelled(info.name, info.simulated));
}

void check_flags(const Options& options) {
  const Flags& flags = options.flags;
  if (flags.batches.size() != 1 || flags.backends.size() != 1 || options.fusions.size() != 1) {
    throw UsageError("explain: takes one --batch, one --fusion and one --backend");
  }
  const std::vector<std::string> formats(std::begin(kFormats), std::end(kFormats));
  if (std::find(formats.begin(), formats.end(), flags.format) == formats.end()) {
    throw UsageError(unknown_name("format", flags.format, formats));
  }
}

}  // namespace

int run_explain(const Options& options, const Context& context) {
  const Flags& flags = options.flags;
  check_flags(options);
  const std::int64_t batch = flags.batches.front();
  const Graph described = options.model.step(batch);
  make_choices(options, context.registry, std::span(&described, 1));
  const std::unique_ptr<Backend> backend =
      make_backend(options, context.registry, flags.backends.front());
  const FusionChoice& fusion = options.fusions.front();
  const std::vector<Pass> passes = passes_for(fusion, backend->wishes());
  const bool recorded = flags.format == "dot-recording";
  Session session(*backend, options.model,
                  {.mode = recorded ? Mode::graph : Mode::planned,
                   .step_batches = {batch},
                   .seed = flags.seed,
                   .passes = passes,
                   .input_copy = options.input_copy});
  const Executor& executor = session.step(batch);
  if (flags.format != "text") {
    fmt::print("{}", step_text(session, backend->info(), flags.format, batch));
    return 0;
  }
  fmt::print("# {} at batch {}, as described\n\n{}\n", options.model.name, batch,
             to_text(described));
  print_passes(described, passes);
  print_unused(fusion, passes, backend->name());
  fmt::print("# plan of {}\n\n{}\n# launches of one step on {}, fusion {}\n\n", options.model.name,
             to_text(executor.program().plan),
             labelled(backend->info().name, backend->info().simulated), to_string(fusion));
  print_launches(session, batch);
  return 0;
}

}  // namespace stepscope::cli
