// bench_dispatch: what dispatch costs when nothing is computed, per op and mode, on the null
// backend.
//
// Names: dispatch/MODEL/null/MODE/log:on|off. Time is that of one step; `per_op` is the step over
// its ops. Counters are exact: look-ups, submissions and calls of one step, from the stream. The
// goals stand in docs/modes.md beside what was measured.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>

#include "backends/execution/session.h"
#include "backends/registry/registry.h"

namespace stepscope {
namespace {

enum class Log : bool { off, on };

constexpr std::int64_t kBatch = 32;  // decides no time here: nothing is computed

struct Case {
  std::string model;
  Mode mode;
  Log log;
  EagerCache cache = EagerCache::on;
};

void run(benchmark::State& state, const Case& each) {
  const std::unique_ptr<Backend> null = Registry::builtin().make("null", {});
  Session session(
      *null, make_model(each.model),
      {.mode = each.mode, .step_batches = {kBatch}, .executor = {.eager_cache = each.cache}});
  session.warm_up();
  Stream& stream = session.stream();
  stream.keep_log(each.log == Log::on ? Stream::kDefaultLogEntries : 0);
  Executor& executor = session.step(kBatch);
  const Counters before = stream.counters();
  for (auto _ : state) executor.enqueue(stream);
  stream.wait();
  const Counters counted = stream.counters() - before;
  if (executed_mode(counted) != each.mode) state.SkipWithError("another mode was executed");
  const auto ops = static_cast<double>(executor.graph().ops().size());
  const auto steps = static_cast<double>(counted.steps);
  using benchmark::Counter;
  state.counters["ops"] = ops;
  state.counters["per_op"] =
      Counter(ops, Counter::kIsIterationInvariantRate | Counter::kInvert);  // seconds
  state.counters["lookups"] = static_cast<double>(counted.lookups) / steps;
  state.counters["submissions"] = static_cast<double>(counted.submitted + counted.replays) / steps;
  state.counters["calls"] =
      static_cast<double>(counted.calls_submitted + counted.calls_replayed) / steps;
}

void add(const Case& each) {
  const std::string label = fmt::format("dispatch/{}/null/{}{}/log:{}", each.model, name(each.mode),
                                        each.cache == EagerCache::off ? "-uncached" : "",
                                        each.log == Log::on ? "on" : "off");
  benchmark::RegisterBenchmark(label.c_str(),
                               [each](benchmark::State& state) { run(state, each); });
}

}  // namespace
}  // namespace stepscope

int main(int argc, char** argv) {
  using namespace stepscope;
  for (const char* model : {"mlp", "chain:50"}) {
    for (const Log log : {Log::on, Log::off}) {
      for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) add({model, mode, log});
    }
    add({model, Mode::eager, Log::on, EagerCache::off});
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
