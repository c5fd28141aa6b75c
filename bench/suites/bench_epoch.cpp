// bench_epoch: whole epochs as `stepscope train` runs them: batches made and copied in, steps,
// losses read back, the validation behind them.
//
// Names: epoch/MODEL/BACKEND/MODE/fused|unfused/batch:N. Every iteration is epoch 0 of a session
// that is made anew, untimed, so that all do the same work.
// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "bench/measure/facts_hash.h"
#include "bench/suites/suite.h"
#include "bench/suites/timed_arm.h"
#include "bench/train/train.h"

namespace stepscope::suites {
namespace {

constexpr double kNsPerMs = 1e6;

class Epochs final : public Prepared {
 public:
  Epochs(Suite& suite, const ArmKey& key)
      : suite_(suite),
        key_(key),
        backend_(suite.registry().make(key.backend, {.threads = suite.flags().threads})) {
    spec_.model = make_model(key.model);
    spec_.mode = key.mode;
    spec_.batch = key.batch;
    spec_.epochs = 1;
    spec_.seed = suite.flags().seed;
    spec_.fusion = key.fusion;
    spec_.passes = passes_for(parse_fusion(key.fusion), backend_->wishes());
    const Data& data = suite.data_for(spec_.model);
    spec_.work = work_of(data, spec_);
    arm_ = {.name = fmt::format("{}/{}/{}/{}", key.backend, name(key.mode), key.fusion, key.batch),
            .backend = key.backend,
            .mode_requested = std::string(name(key.mode)),
            .fusion = key.fusion,
            .batch = key.batch,
            .threads = backend_->info().threads,
            .work = spec_.work,
            .work_hash = hash_of(spec_.work),
            .scope = "pipeline",
            .includes = {"shuffle", "loader", "transfer", "loss", "validation"},
            .partial_policy = std::string(name(spec_.partial))};
    epochs_.method = method::kThroughput;
    epochs_.covers = kComplete;
    epochs_.steps_per_sample = steps_per_epoch(data, spec_);
  }

  void run(benchmark::State& state) {
    EpochRecord sums;
    while (state.KeepRunning()) {
      const EpochRecord epoch = one_epoch();
      state.SetIterationTime(static_cast<double>(epoch.wall_ns) / kNsPerSecond);
      for (const auto part :
           {&EpochRecord::data_ns, &EpochRecord::transfer_ns, &EpochRecord::step_ns,
            &EpochRecord::readback_ns, &EpochRecord::validation_ns}) {
        sums.*part += epoch.*part;
      }
    }
    set_counters(state, sums);
  }

  void finish() override {
    if (!epochs_.elapsed_ns.empty()) arm_.throughput.push_back(std::move(epochs_));
    suite_.keep(spec_.model.name, key_.backend, backend_->info());
    suite_.keep(spec_.model.name, std::move(arm_));
  }

 private:
  EpochRecord one_epoch() {
    EpochRecord epoch;
    std::int64_t start_ns = 0;
    TrainHooks hooks;
    hooks.epoch = [&](const EpochRecord& ended) {
      epoch = ended;
      start_ns = suite_.timer().now() - ended.wall_ns;
    };
    const TrainResult result = train(*backend_, suite_.data_for(spec_.model), spec_, hooks);
    epochs_.start_ns.push_back(start_ns);
    epochs_.elapsed_ns.push_back(epoch.wall_ns);
    arm_.mode_executed = result.mode_executed;
    arm_.steps = epoch.steps;
    arm_.samples_seen = epoch.samples_seen;
    arm_.samples_dropped = epoch.samples_dropped;
    return epoch;
  }

  // Parts of the time of an epoch; the loop around them has the rest.
  void set_counters(benchmark::State& state, const EpochRecord& sums) {
    using benchmark::Counter;
    set_label(state, arm_);
    const auto part = [&](const char* name, std::int64_t ns) {
      state.counters[name] = Counter(static_cast<double>(ns) / kNsPerMs, Counter::kAvgIterations);
    };
    part("data_ms", sums.data_ns);
    part("transfer_ms", sums.transfer_ns);
    part("step_ms", sums.step_ns);
    part("readback_ms", sums.readback_ns);
    part("validation_ms", sums.validation_ns);
    state.counters["steps"] = static_cast<double>(arm_.steps.value_or(0));
    state.SetItemsProcessed(state.iterations() * arm_.samples_seen.value_or(0));
  }

  Suite& suite_;
  ArmKey key_;
  std::unique_ptr<Backend> backend_;
  TrainSpec spec_;
  ArmRecord arm_;
  Samples epochs_;
};

void add(Suite& suite, const ArmKey& key, std::string_view fusion) {
  const std::string name = fmt::format("epoch/{}/{}/{}/{}/batch:{}", key.model, key.backend,
                                       stepscope::name(key.mode), fusion, key.batch);
  suite.add(name,
            [&suite, key, name](benchmark::State& state) {
              suite.prepared<Epochs>(name, [&] { return std::make_unique<Epochs>(suite, key); })
                  .run(state);
            },
            {.unit = benchmark::kMillisecond});
}

void add_all(Suite& suite) {
  for (const std::string& model : suite.flags().models) {
    for (const std::string& backend : suite.flags().backends) {
      for (const std::int64_t batch : suite.flags().batches) {
        for (const FusionName& fusion : kFusions) {
          for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
            add(suite, {model, backend, mode, std::string(fusion.choice), batch}, fusion.name);
          }
        }
      }
    }
  }
}

Facts protocol() {
  const TrainSpec spec;
  return {{"method", std::string(method::kThroughput)},
          {"block", "a whole epoch"},
          {"start", "epoch 0 of a session that is made anew outside the interval"},
          {"inputs", "all training rows, shuffled"},
          {"includes", "shuffle, loader, transfer, loss, validation"},
          {"sync", "after each step"},
          {"loss_every", fmt::to_string(spec.loss_every)},
          {"warm_up", "one step and one evaluation of each size, then restored"}};
}

}  // namespace
}  // namespace stepscope::suites

int main(int argc, char** argv) {
  using namespace stepscope::suites;
  return run_program({.name = "bench_epoch",
                      .what = "Whole epochs: loading, steps, losses, validation.",
                      .names = "epoch/MODEL/BACKEND/eager|planned|graph/fused|unfused/batch:N",
                      .usual = {.models = {"mlp"}, .backends = {"usual"}, .batches = {32}},
                      .protocol = protocol()},
                     argc, argv, add_all);
}
