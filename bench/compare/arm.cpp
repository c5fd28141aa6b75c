// Making arms, and counting what a step of them does.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/arm.h"

#include <algorithm>
#include <set>

#include "backends/execution/reconcile.h"
#include "bench/compare/work.h"
#include "bench/measure/clock.h"

namespace stepscope {
namespace {

std::uint64_t intermediate_bytes(const Graph& graph) {
  std::uint64_t bytes = 0;
  for (const Value& value : graph.values()) {
    if (value.sharing != Sharing::own || value.producer < 0) continue;
    bytes += value.type.bytes();
  }
  return bytes;
}

std::uint64_t reorders_in(const Graph& graph) {
  return static_cast<std::uint64_t>(
      std::count_if(graph.ops().begin(), graph.ops().end(),
                    [](const Op& op) { return op.kind == OpKind::Reorder; }));
}

// Arithmetic of the ops that called the library, by the log of whole steps.
double library_flops(const Graph& graph, const std::vector<LogEntry>& log) {
  std::set<std::uint32_t> ops;
  for (const LogEntry& entry : log) {
    if (entry.by == CallBy::library) ops.insert(entry.op);
  }
  double flops = 0.0;
  for (const std::uint32_t op : ops) flops += flops_of(graph, op);
  return flops;
}

bool changes(const PassReport& report) {
  return report.ops_before != report.ops_after || report.intermediate_bytes_removed != 0;
}

}  // namespace

std::vector<PassRecord> pass_records(const FusionChoice& choice,
                                     const std::vector<PassReport>& reports) {
  std::vector<PassRecord> records;
  records.reserve(reports.size() + choice.passes.size());
  for (const PassReport& report : reports) {
    records.push_back({.name = report.name,
                       .fusion = choice.has(report.name),
                       .changed = changes(report),
                       .ops_before = static_cast<std::int64_t>(report.ops_before),
                       .ops_after = static_cast<std::int64_t>(report.ops_after),
                       .intermediate_bytes_removed = report.intermediate_bytes_removed,
                       .time_ns = report.time.count(),
                       .notes = report.notes});
  }
  for (const std::string& pass : choice.passes) {
    const bool ran = std::any_of(reports.begin(), reports.end(),
                                 [&](const PassReport& report) { return report.name == pass; });
    if (ran) continue;
    records.push_back({.name = pass, .fusion = true, .notes = {"the backend has no use for it"}});
  }
  return records;
}

Arm make_arm(const CompareSpec& spec, Backend& backend, const ArmChoice& choice, std::int64_t batch,
             const InputRing& ring) {
  Arm arm{.choice = choice, .passes = passes_for(choice.fusion, backend.layouts())};
  const Stamp begin = now();
  arm.session = std::make_unique<Session>(
      backend, spec.model,
      SessionOptions{
          .mode = choice.mode, .step_batches = {batch}, .seed = spec.seed, .passes = arm.passes});
  arm.record = {.backend = spec.backend,
                .mode_requested = std::string(name(choice.mode)),
                .fusion = to_string(choice.fusion),
                .batch = batch,
                .threads = backend.info().threads,
                .setup_ns = (now() - begin).count(),
                .passes = pass_records(choice.fusion, arm.session->pass_reports(batch))};
  arm.record.work_hash = work_hash(*arm.session, spec, batch, ring);
  arm.record.flops = flops_of(arm.session->step(batch).graph());
  return arm;
}

void count_step(Arm& arm, std::int64_t batch, const InputRing& ring) {
  constexpr std::uint64_t kSteps = 4;
  Session& session = *arm.session;
  session.stream().clear_log();
  const Counters before = session.stream().counters();
  Executor& executor = session.step(batch);
  for (std::uint64_t i = 0; i < kSteps; ++i) executor.enqueue(session.stream());
  session.stream().wait();
  const Counters counted = session.stream().counters() - before;
  const std::vector<LogEntry> log = session.stream().log();
  reconcile(executor.program(), counted, log, {.mode = session.options().mode, .steps = kSteps});
  const Batch& first = ring.at(0);
  arm.record.mode_executed = name(executed_mode(counted));
  arm.record.counts = {.ops = executor.graph().ops().size(),
                       .reorders = reorders_in(executor.graph()),
                       .submissions = (counted.submitted + counted.replays) / kSteps,
                       .calls = (counted.calls_submitted + counted.calls_replayed) / kSteps,
                       .library_calls = counted.library_calls / kSteps,
                       .own_calls = counted.own_calls / kSteps,
                       .lookups = counted.lookups / kSteps,
                       .input_bytes = std::as_bytes(std::span(first.x)).size() +
                                      std::as_bytes(std::span(first.labels)).size(),
                       .intermediate_bytes = intermediate_bytes(executor.graph())};
  arm.record.library_flops = library_flops(executor.graph(), log);
  arm.record.reserved_bytes = executor.bytes_reserved();
  arm.record.model_bytes = session.memory().layout().bytes();
}

std::vector<ArmChoice> arms_of(const CompareSpec& spec, Backend& backend, std::int64_t batch) {
  std::vector<FusionChoice> fusions = spec.fusions;
  if (spec.ablate) {
    const FusionChoice all = parse_fusion("on");
    fusions = {FusionChoice{}, all};
    const PipelineResult result =
        run_passes(spec.model.step(batch), passes_for(all, backend.layouts()));
    for (const PassReport& report : result.reports) {
      if (!all.has(report.name) || !changes(report)) continue;
      fusions.push_back(parse_fusion("-" + report.name));
    }
  }
  std::vector<ArmChoice> arms;
  arms.reserve(fusions.size() * spec.modes.size());
  for (const FusionChoice& fusion : fusions) {
    for (const Mode mode : spec.modes) arms.push_back({mode, fusion});
  }
  return arms;
}

}  // namespace stepscope
