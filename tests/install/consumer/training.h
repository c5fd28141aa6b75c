// A step written in C++ with an op of our own, trained in three modes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "backends/execution/session.h"

namespace consumer {

// Two numbers, a hidden layer with Softplus, two classes.
stepscope::Model make_model();

struct Trained {
  std::vector<double> losses;  // of each step
  std::map<std::string, std::vector<std::byte>> state;
  bool ran_as_asked = false;  // by the counters of the stream
};
Trained train(stepscope::Backend& backend, stepscope::Mode mode, const std::string& fusion);

}  // namespace consumer
