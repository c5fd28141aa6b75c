// stepscope explain: the step before and after each pass, its plan, and its launches.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "backends/execution/session.h"
#include "bench/cli/commands.h"
#include "bench/report/text.h"
#include "ops/ir/print.h"

namespace stepscope::cli {
namespace {

void print_passes(const std::vector<PassReport>& reports) {
  for (const PassReport& report : reports) {
    fmt::print("pass {:<10} {:>4} -> {:>4} ops, {} of intermediates removed, {}\n", report.name,
               report.ops_before, report.ops_after,
               bytes_text(static_cast<double>(report.intermediate_bytes_removed)),
               time_text(static_cast<double>(report.time.count())));
  }
}

// Runs one step and prints what the stream logged.
void print_launches(Session& session, std::int64_t batch) {
  Executor& executor = session.step(batch);
  const std::size_t ops = executor.graph().ops().size();
  session.stream().keep_log(ops);
  session.enqueue_step(batch);
  session.stream().wait();
  for (const LogEntry& entry : session.stream().log()) {
    const OpSite& site = entry.kernel->site();
    std::string types;
    for (const TensorType& type : site.in) types += (types.empty() ? "" : ", ") + to_string(type);
    fmt::print("{:>4}  {:<24} {:<8} {}\n", entry.op, name(site.kind),
               entry.by == CallBy::library ? "library" : "own", types);
  }
}

}  // namespace

int run_explain(const Options& options, const Context& context) {
  const Flags& flags = options.flags;
  if (flags.batches.size() != 1 || flags.backends.size() != 1) {
    throw UsageError("explain: takes one --batch and one --backend");
  }
  if (flags.format != "text" && flags.format != "dot") {
    throw UsageError(fmt::format("--format '{}': text or dot", flags.format));
  }
  const std::int64_t batch = flags.batches.front();
  const Graph described = options.model.step(batch);
  const std::unique_ptr<Backend> backend =
      context.registry.make(flags.backends.front(), {.threads = flags.threads});
  Session session(*backend, options.model,
                  {.mode = Mode::planned, .step_batches = {batch}, .seed = flags.seed});
  const Executor& executor = session.step(batch);
  if (flags.format == "dot") {
    fmt::print("{}", to_dot(executor.graph()));
    return 0;
  }
  fmt::print("# {} at batch {}, as described\n\n{}\n", options.model.name, batch,
             to_text(described));
  print_passes(session.pass_reports(batch));
  fmt::print("\n# as it runs\n\n{}\n# plan\n\n{}\n# launches of one step on {}\n\n",
             to_text(executor.graph()), to_text(executor.program().plan), backend->name());
  print_launches(session, batch);
  return 0;
}

}  // namespace stepscope::cli
