// What tests of training share: small data, small models, and runs that keep what they end with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "backends/registry/registry.h"
#include "bench/data/generated.h"
#include "bench/train/tensors.h"
#include "bench/train/train.h"
#include "graph/passes/fusion.h"

namespace stepscope::test {

// 50 images of 4 x 4 in three classes: 40 to train, 10 to validate.
inline Data small_data(std::int64_t count = 50) {
  GeneratedData made =
      make_generated({.train = count, .test = 10, .rows = 4, .columns = 4, .classes = 3});
  return {.origin = Origin::generated,
          .source = "small",
          .train = std::move(made.train),
          .test = std::move(made.test)};
}

inline TrainSpec small_spec(OptimizerSpec::Kind kind = OptimizerSpec::Kind::sgd) {
  const OptimizerSpec optimizer{.kind = kind, .rate = 0.05};
  return {.model = make_model("mlp:16-5-3", optimizer),
          .optimizer = optimizer,
          .mode = Mode::planned,
          .batch = 12,
          .epochs = 3,
          .loss_every = 2,
          .passes = passes_for(parse_fusion("off"), {}),
          .fusion = "off"};
}

inline std::vector<std::string> computing_backends() {
  std::vector<std::string> names;
  for (const std::string& backend : Registry::builtin().available()) {
    if (Registry::builtin().make(backend, {})->info().computes) names.push_back(backend);
  }
  return names;
}

struct RunResult {
  std::vector<EpochRecord> epochs;
  std::map<std::string, std::vector<std::byte>> end;  // parameters and states
  std::vector<Checkpoint> checkpoints;
  std::vector<SubmissionRecord> submissions;
  std::string mode_executed;
};

inline RunResult run(const std::string& backend, const Data& data, const TrainSpec& spec,
                     const Checkpoint* from = nullptr) {
  RunResult result;
  TrainHooks hooks;
  hooks.checkpoint = [&](const Checkpoint& at) { result.checkpoints.push_back(at); };
  hooks.finished = [&](Session& session) { result.end = session.parameters_and_states(); };
  const auto made = Registry::builtin().make(backend, {});
  TrainResult trained = train(*made, data, spec, hooks, from);
  result.epochs = std::move(trained.epochs);
  result.submissions = std::move(trained.submissions);
  result.mode_executed = std::move(trained.mode_executed);
  return result;
}

}  // namespace stepscope::test
