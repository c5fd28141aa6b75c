// bench_dispatch: what dispatch costs when nothing is computed, per op and mode, on the null
// backend.
//
// Names: dispatch/MODEL/null/MODE/log:on|off. Time is that of one step without its input copy;
// `per_op` is the step over its ops. Counters are exact: look-ups, launches and calls of one step,
// from the stream. The goals stand in docs/modes.md beside what was measured.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "bench/measure/sampler.h"
#include "bench/suites/suite.h"
#include "bench/suites/timed_arm.h"

namespace stepscope::suites {
namespace {

constexpr std::int64_t kBatch = 32;  // decides no time here: nothing is computed
constexpr std::int64_t kBlockNs = 1'000'000;

enum class Log : bool { off, on };

struct Case {
  std::string model;
  Mode mode;
  Log log;
  EagerCache cache = EagerCache::on;

  // `compare` has arms like these; the others are variants, which are rows of a record.
  bool is_arm() const { return log == Log::on && cache == EagerCache::on; }
};

// Steps on inputs that stay: the copy is none of dispatch.
class DispatchSubject final : public Subject {
 public:
  DispatchSubject(Executor& executor, Stream& stream) : executor_(executor), stream_(stream) {}
  void restart() override {}
  void load(std::int64_t) override {}
  void submit() override { executor_.enqueue(stream_); }
  void wait() override { stream_.wait(); }
  bool synchronous() const override { return true; }

 private:
  Executor& executor_;
  Stream& stream_;
};

class Dispatch final : public Prepared {
 public:
  Dispatch(Suite& suite, const Case& each, std::string name)
      : suite_(suite),
        case_(each),
        name_(std::move(name)),
        ground_(suite, {each.model, "null", each.mode, "off", kBatch}),
        arm_(make_arm(ground_.spec, *ground_.backend, {each.mode, {}}, kBatch, ground_.ring,
                      {.eager_cache = each.cache})),
        subject_(arm_.session->step(kBatch), arm_.session->stream()) {
    arm_.session->warm_up();
    count_step(arm_, kBatch, ground_.ring);
    arm_.session->stream().keep_log(each.log == Log::on ? Stream::kDefaultLogEntries : 0);
    allocations_ = allocations_of_step(subject_);
    blocks_.method = method::kThroughput;
    blocks_.covers = kComplete;
    blocks_.steps_per_sample =
        suite.block_length([&] { return steps_for(subject_, suite.timer(), kBlockNs); });
  }

  void run(benchmark::State& state) {
    run_blocks(state, subject_, suite_.timer(), blocks_);
    using benchmark::Counter;
    set_label(state, arm_.record);
    set_counts(state, arm_.record);
    if (allocations_) state.counters["allocations"] = *allocations_;
    state.counters["lookups"] = static_cast<double>(arm_.record.counts.lookups);
    state.counters["per_op"] = Counter(static_cast<double>(arm_.record.counts.ops),
                                       Counter::kIsIterationInvariantRate | Counter::kInvert);
  }

  void finish() override {
    const std::string& model = ground_.spec.model.name;
    suite_.keep(model, "null", ground_.backend->info());
    if (!case_.is_arm()) {
      std::vector<double> per_step;
      for (const std::int64_t elapsed : blocks_.elapsed_ns) {
        per_step.push_back(static_cast<double>(elapsed) /
                           static_cast<double>(blocks_.steps_per_sample));
      }
      suite_.keep(model, name_, "ns", "a step on null, in blocks", per_step);
      return;
    }
    ArmRecord& arm = arm_.record;
    arm.includes.clear();
    arm.utilization.reason = "the backend computes nothing";
    if (!blocks_.elapsed_ns.empty()) arm.throughput.push_back(std::move(blocks_));
    suite_.keep(model, std::move(arm));
  }

 private:
  Suite& suite_;
  Case case_;
  std::string name_;
  ArmGround ground_;
  Arm arm_;
  DispatchSubject subject_;
  std::optional<double> allocations_;
  Samples blocks_;
};

void add(Suite& suite, const Case& each) {
  const std::string name = fmt::format(
      "dispatch/{}/null/{}{}/log:{}", each.model, stepscope::name(each.mode),
      each.cache == EagerCache::off ? "-uncached" : "", each.log == Log::on ? "on" : "off");
  suite.add(name,
            [&suite, each, name](benchmark::State& state) {
              suite
                  .prepared<Dispatch>(name,
                                      [&] { return std::make_unique<Dispatch>(suite, each, name); })
                  .run(state);
            },
            {.unit = benchmark::kNanosecond});
}

void add_all(Suite& suite) {
  for (const std::string& model : suite.flags().models) {
    for (const Log log : {Log::on, Log::off}) {
      for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
        add(suite, {model, mode, log});
      }
    }
    add(suite, {model, Mode::eager, Log::on, EagerCache::off});
  }
}

Facts protocol() {
  return {{"method", std::string(method::kThroughput)},
          {"block", fmt::format("steps for {} ms or longer", kBlockNs / 1'000'000)},
          {"start", "anywhere: nothing is computed"},
          {"inputs", "none are copied"},
          {"includes", "nothing"},
          {"sync", "before the first and before the last stamp of a block"},
          {"warm_up", "three steps"}};
}

}  // namespace
}  // namespace stepscope::suites

int main(int argc, char** argv) {
  using namespace stepscope::suites;
  return run_program({.name = "bench_dispatch",
                      .what = "What dispatch costs when nothing is computed.",
                      .names = "dispatch/MODEL/null/eager|planned|graph|eager-uncached/log:on|off",
                      .usual = {.models = {"mlp", "chain:50"}},
                      .protocol = protocol()},
                     argc, argv, add_all);
}
