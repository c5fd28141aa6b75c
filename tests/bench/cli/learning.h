// What tests of learning share: which backends to train on, and validation accuracies by epoch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "backends/registry/registry.h"
#include "bench/train/train.h"
#include "graph/passes/fusion.h"
#include "tests/support/backends.h"

namespace stepscope::test {

// The backends of this build that are fast enough to train the model on.
inline std::vector<std::string> fast_backends(const std::string& model) {
  std::vector<std::string> names;
  for (const std::string& backend : backends_that_run(Registry::builtin(), make_model(model))) {
    if (backend != "null" && backend != "reference") names.push_back(backend);
  }
  return names;
}

inline std::vector<double> accuracies(Backend& backend, const Data& data, const TrainSpec& spec) {
  std::vector<double> by_epoch;
  by_epoch.reserve(static_cast<std::size_t>(spec.epochs));
  const TrainResult result = train(backend, data, spec, {});
  for (const EpochRecord& epoch : result.epochs) {
    by_epoch.push_back(epoch.validation_accuracy.value());
  }
  return by_epoch;
}

}  // namespace stepscope::test
