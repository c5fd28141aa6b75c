// Making arms, and counting what a step of them does.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/arm.h"

#include <algorithm>
#include <set>

#include "backends/api/record_as.h"
#include "backends/execution/reconcile.h"
#include "bench/compare/work.h"
#include "bench/measure/facts_hash.h"
#include "bench/measure/process_memory.h"
#include "ops/base/check.h"

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

// What all ops must move at least, by their own account.
double fewest_bytes(const Graph& graph) {
  double bytes = 0.0;
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const OpSite site = site_of(graph, i);
    bytes += op_def(site.kind).work(site.in, site.out, site.attrs).bytes;
  }
  return bytes;
}

// Calls of a step by the phases of the ops that made them, in the order of the graph.
std::vector<PhaseCalls> calls_by_phase(const Graph& graph, std::span<const LogEntry> step) {
  std::vector<PhaseCalls> rows;
  const auto row = [&](const Op& op) -> PhaseCalls& {
    const std::string phases = to_string(op.phases);
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const PhaseCalls& each) { return each.phases == phases; });
    return found != rows.end() ? *found : rows.emplace_back(PhaseCalls{.phases = phases});
  };
  for (const Op& op : graph.ops()) ++row(op).ops;
  for (const LogEntry& entry : step) {
    PhaseCalls& calls = row(graph.ops()[entry.op]);
    ++calls.calls;
    ++(entry.by == CallBy::library ? calls.library_calls : calls.own_calls);
  }
  return rows;
}

// Arithmetic of the ops that called the library, by the log of a step.
double library_flops(const Graph& graph, std::span<const LogEntry> log) {
  std::set<std::uint32_t> ops;
  for (const LogEntry& entry : log) {
    if (entry.by == CallBy::library) ops.insert(entry.op);
  }
  double flops = 0.0;
  for (const std::uint32_t op : ops) flops += flops_of(graph, op);
  return flops;
}

MemoryWindow window_of(const MemoryUse& use) {
  return {.allocated = use.allocated,
          .reserved = use.reserved,
          .peak_allocated = use.peak_allocated,
          .peak_reserved = use.peak_reserved};
}

OneOffRecord one_off_of(const SetupTimes& times) {
  return {.init_ns = times.init_ns,
          .compile_ns = times.compile_ns,
          .capture_ns = times.capture_ns,
          .instantiate_ns = times.instantiate_ns,
          .upload_ns = times.upload_ns};
}

// What one step counted, the same in each of `steps`.
Counters count_steps(Executor& executor, Stream& stream, std::uint64_t steps) {
  Counters first;
  for (std::uint64_t i = 0; i < steps; ++i) {
    const Counters before = stream.counters();
    executor.enqueue(stream);
    stream.wait();
    const Counters counted = stream.counters() - before;
    if (i == 0) first = counted;
    check(counted == first, Fault::device,
          "count: steady steps differ: {} submissions and {} calls, then {} and {}",
          first.submitted + first.replays, first.calls_submitted + first.calls_replayed,
          counted.submitted + counted.replays, counted.calls_submitted + counted.calls_replayed);
  }
  return first;
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
             const InputRing& ring, const ArmOptions& options) {
  const auto offset = static_cast<std::size_t>(options.offset);
  Arm arm{.choice = choice, .passes = passes_for(choice.fusion, backend.wishes())};
  arm.session = std::make_unique<Session>(
      backend, spec.model,
      SessionOptions{.mode = choice.mode,
                     .step_batches = {batch},
                     .seed = spec.seed,
                     .passes = arm.passes,
                     .input_copy = spec.input_copy,
                     .executor = {.eager_cache = options.eager_cache, .address_offset = offset},
                     .model_offset = offset});
  const Graph& graph = arm.session->step(batch).graph();
  const std::string fusion = to_string(choice.fusion);
  arm.record = {
      .name = fmt::format("{}/{}/{}/{}", spec.backend, name(choice.mode), fusion, batch),
      .backend = spec.backend,
      .simulated = backend.info().simulated,
      .mode_requested = std::string(name(choice.mode)),
      .recorded_as = choice.mode == Mode::graph ? std::string(name(backend.records_as())) : "",
      .inputs_copied =
          std::string(name(choice.mode == Mode::graph ? spec.input_copy : InputCopy::outside)),
      .fusion = fusion,
      .batch = batch,
      .threads = backend.info().threads,
      .includes = {"input_copy"},
      .flops = flops_of(graph),
      .fewest_bytes = fewest_bytes(graph),
      .passes = pass_records(choice.fusion, arm.session->pass_reports(batch)),
      .one_off = {one_off_of(arm.session->setup_times())}};
  arm.record.work = work_facts(*arm.session, spec, batch, ring);
  arm.record.work_hash = hash_of(arm.record.work);
  return arm;
}

std::int64_t address_offset(std::int64_t process, std::size_t alignment) {
  // Within a page or so; the step has no factor in common with the places, so all come up.
  constexpr std::int64_t kPlaces = 64;
  constexpr std::int64_t kStep = 29;
  return process * kStep % kPlaces * static_cast<std::int64_t>(alignment);
}

void first_step(Arm& arm, std::int64_t batch, const InputRing& ring, Timer& timer) {
  Session& session = *arm.session;
  Stream& stream = session.stream();
  const std::vector<std::byte> start = session.memory().snapshot(stream);
  const Batch& first = ring.at(0);
  session.load(first.x, first.labels);
  stream.wait();
  const std::int64_t begin = timer.now();
  session.enqueue_step(batch);
  stream.wait();
  arm.record.one_off.front().first_step_ns = timer.now() - begin;
  arm.record.memory.first = window_of(session.memory_use(batch));
  session.memory().restore(stream, start);
}

void begin_steady(Arm& arm) {
  arm.session->step(arm.record.batch).reset_peaks();
  arm.lowerings_before_steady = arm.session->lowerings();
}

void end_steady(Arm& arm) {
  Session& session = *arm.session;
  const std::int64_t batch = arm.record.batch;
  session.stream().wait();
  MemoryRecord& memory = arm.record.memory;
  memory.steady = window_of(session.memory_use(batch));
  memory.owners.clear();
  for (const MemoryPart& part : session.memory_parts(batch)) {
    memory.owners.push_back(
        {.owner = std::string(part.owner), .layer = "stepscope", .reserved = part.reserved});
  }
  const ProcessMemory process = process_memory();
  memory.process_rss = process.rss;
  memory.process_peak_rss = process.peak_rss;
  arm.record.one_off.front().compilations_in_steady =
      static_cast<std::int64_t>(session.lowerings() - arm.lowerings_before_steady);
}

void count_step(Arm& arm, std::int64_t batch, const InputRing& ring) {
  constexpr std::uint64_t kSteps = 4;
  Session& session = *arm.session;
  Stream& stream = session.stream();
  stream.clear_log();
  const Counters before = stream.counters();
  Executor& executor = session.step(batch);
  const Graph& graph = executor.graph();
  const Counters step = count_steps(executor, stream, kSteps);
  const Counters counted = stream.counters() - before;
  std::vector<LogEntry> log = stream.log();
  reconcile(executor.program(), counted, log,
            {.mode = session.options().mode,
             .steps = kSteps,
             .eager_cache = session.options().executor.eager_cache,
             .input_copy = session.options().input_copy});
  const auto last = static_cast<std::uint32_t>(stream.counters().steps);
  std::erase_if(log, [&](const LogEntry& entry) { return entry.step != last; });
  const Batch& first = ring.at(0);
  arm.record.mode_executed = name(executed_mode(counted));
  arm.record.counts = {.ops = graph.ops().size(),
                       .reorders = reorders_in(graph),
                       .submissions = step.submitted + step.replays,
                       .graph_launches = step.replays,
                       .nodes_executed = step.calls_replayed,
                       .calls = step.calls_submitted + step.calls_replayed,
                       .library_calls = step.library_calls,
                       .own_calls = step.own_calls,
                       .lookups = step.lookups,
                       .input_bytes = std::as_bytes(std::span(first.x)).size() +
                                      std::as_bytes(std::span(first.labels)).size(),
                       .intermediate_bytes = intermediate_bytes(graph),
                       .by_phase = calls_by_phase(graph, log)};
  arm.record.library_flops = library_flops(graph, log);
  arm.record.reserved_bytes = executor.memory_parts().front().reserved;
  arm.record.model_bytes = session.memory().layout().bytes();
}

std::vector<ArmChoice> arms_of(const CompareSpec& spec, Backend& backend, std::int64_t batch) {
  std::vector<FusionChoice> fusions = spec.fusions;
  if (spec.ablate) {
    const FusionChoice all = parse_fusion("on");
    fusions = {FusionChoice{}, all};
    const PipelineResult result =
        run_passes(spec.model.step(batch), passes_for(all, backend.wishes()));
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
