// bench_op: every op of the built-in models' steps alone, at the shapes that they have there.
//
// Names: op/KIND/BACKEND/SHAPE[/SETTINGS] (bench/suites/op_cases.h). Time is that of one launch,
// from blocks of launches on the same operands, which hold what a step left in them: they lie in
// the nearest cache that can hold them. Work in place is off, so that each launch reads the same;
// an update goes on from what the launch before it made.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "bench/measure/statistics.h"
#include "bench/suites/op_cases.h"
#include "bench/suites/step_launches.h"
#include "bench/suites/suite.h"
#include "graph/passes/fusion.h"
#include "ops/ir/op_def.h"

namespace stepscope::suites {
namespace {

// A step, or evaluation, whose launches can be made one by one.
class PlacedOps final : public Prepared {
 public:
  PlacedOps(Suite& suite, const std::string& backend, const OpPlace& place)
      : suite_(suite),
        backend_name_(backend),
        backend_(suite.registry().make(backend, {.threads = suite.flags().threads})),
        session_(*backend_, make_model(place.model, {.kind = place.optimizer}),
                 options(suite, place, *backend_)),
        program_(place.evaluation ? session_.evaluation(place.batch).program()
                                  : session_.step(place.batch).program()),
        launches_(program_, session_) {
    load_noise(session_, place.batch, suite.flags().seed);
    start_ = session_.memory().snapshot(session_.stream());
  }

  void finish() override { suite_.keep(session_.model().name, backend_name_, backend_->info()); }

  // All ops before it are done, and it too.
  void arrive_at(std::size_t op) {
    session_.memory().restore(session_.stream(), start_);
    for (std::size_t i = 0; i <= op; ++i) launches_.submit(session_.stream(), i);
    session_.stream().wait();
  }

  void launch(std::size_t op, std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) launches_.submit(session_.stream(), op);
    session_.stream().wait();
  }

  OpSite site(std::size_t op) const { return site_of(*program_.graph, op); }
  Counters counters() { return session_.stream().counters(); }
  const std::string& model() const { return session_.model().name; }

  BoundedWork work(std::size_t op) const {
    const OpSite at = site(op);
    const Work work = op_def(at.kind).work(at.in, at.out, at.attrs);
    std::map<const std::byte*, std::size_t> distinct;  // an update writes where it reads
    const auto operands = launches_.operands(op);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const TensorType& type = i < at.in.size() ? at.in[i] : at.out[i - at.in.size()];
      std::size_t& bytes = distinct[operands[i]];
      bytes = std::max(bytes, type.bytes());
    }
    double bytes = 0.0;
    for (const auto& [address, size] : distinct) bytes += static_cast<double>(size);
    return {.flops = work.flops,
            .moved_bytes = work.bytes,
            .distinct_bytes = std::min(bytes, work.bytes),
            .threads = backend_->info().threads};
  }

 private:
  static SessionOptions options(const Suite& suite, const OpPlace& place, Backend& backend) {
    SessionOptions options{.mode = Mode::planned,
                           .step_batches = {place.batch},
                           .seed = suite.flags().seed,
                           .passes = passes_for(parse_fusion(place.fusion), backend.wishes()),
                           .in_place = InPlace::off};
    if (place.evaluation) options.evaluation_batches = {place.batch};
    return options;
  }

  Suite& suite_;
  std::string backend_name_;
  std::unique_ptr<Backend> backend_;
  Session session_;
  const stepscope::Program& program_;
  StepLaunches launches_;
  std::vector<std::byte> start_;
};

std::string name_of(const OpPlace& place, const std::string& backend) {
  return fmt::format("{}/{}/{}/{}/{}/{}", backend, place.model, name(place.optimizer), place.fusion,
                     place.evaluation ? "evaluation" : "step", place.batch);
}

// A share: the least time of a launch over its time, all blocks together, as the library has it.
// None where the fastest block undercut the bound: then it is no bound.
void set_share(benchmark::State& state, const char* name, const std::optional<double>& bound_us,
               const std::vector<double>& launch_ns) {
  constexpr double kNsPerUs = 1e3;
  if (!bound_us || launch_ns.empty()) return;
  const Summary launches = summarize(launch_ns);
  if (*bound_us * kNsPerUs > launches.min) return;
  state.counters[name] = *bound_us * kNsPerUs / launches.mean;
}

void time_op(benchmark::State& state, Suite& suite, const std::string& name,
             const std::string& backend, const OpCase& each) {
  PlacedOps& ops = suite.prepared<PlacedOps>(name_of(each.place, backend), [&] {
    return std::make_unique<PlacedOps>(suite, backend, each.place);
  });
  ops.arrive_at(each.op);
  const BoundedWork work = ops.work(each.op);
  const Counters before = ops.counters();
  const std::vector<double> launch_ns =
      time_blocks(state, suite, [&](std::int64_t launches) { ops.launch(each.op, launches); });
  const Counters counted = ops.counters() - before;
  const auto launches = static_cast<double>(std::max<std::uint64_t>(counted.submitted, 1));
  state.counters["calls"] = static_cast<double>(counted.calls_submitted) / launches;
  state.counters["library_calls"] = static_cast<double>(counted.library_calls) / launches;
  if (work.flops > 0.0) {
    state.counters["flops"] =
        benchmark::Counter(work.flops, benchmark::Counter::kIsIterationInvariantRate);
  }
  state.counters["bytes"] = work.moved_bytes;
  const MachineLimits& limits = suite.limits();
  set_share(state, "arithmetic_share", arithmetic_bound_us(limits, work), launch_ns);
  set_share(state, "bandwidth_share", bandwidth_bound_us(limits, work), launch_ns);
  suite.keep(ops.model(), name, "ns",
             fmt::format("one launch, in blocks: an op of {} at batch {}", each.place.model,
                         each.place.batch),
             launch_ns);
}

void add_all(Suite& suite) {
  const Flags& flags = suite.flags();
  for (const std::string& backend : flags.backends) {
    const std::unique_ptr<Backend> made =
        suite.registry().make(backend, {.threads = flags.threads});
    for (const OpCase& each : op_cases(flags.models, flags.batches, *made)) {
      const std::string name = fmt::format("op/{}/{}/{}", each.kind, backend, each.shape);
      suite.add(name, [&suite, name, backend, each](benchmark::State& state) {
        time_op(state, suite, name, backend, each);
      });
    }
  }
}

}  // namespace
}  // namespace stepscope::suites

int main(int argc, char** argv) {
  using namespace stepscope::suites;
  return run_program(
      {.name = "bench_op",
       .what = "Every op of the models' steps alone, fused and not, at the shapes they have there.",
       .names = "op/KIND/BACKEND/SHAPE[/SETTINGS], as op/MatMul/eigen/32x784x128",
       .usual = {.models = {kOpModels.begin(), kOpModels.end()},
                 .backends = {"usual"},
                 .batches = {32}},
       .reads_data = false,
       .counters = {"flops", "arithmetic_share", "bandwidth_share"},
       .protocol = {{"method", "throughput"},
                    {"sample", "a block of launches of one op on the same operands, and the wait"},
                    {"inputs", "what a step on noise leaves in the op's operands"}}},
      argc, argv, add_all);
}
