// Whole training steps as another program computed them: tests/golden/steps.json, made by
// make_steps.py with PyTorch in float64. The formula of all inputs stands in the file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/models/optimizer.h"

namespace stepscope::golden {

struct Parameter {
  struct Sample {
    std::size_t index;
    double value;
  };
  std::size_t elements = 0;
  double norm = 0.0, sum = 0.0;
  std::vector<Sample> samples;
};

struct Case {
  std::string model;
  OptimizerSpec optimizer;
  std::int64_t batch = 0;
  std::int64_t classes = 0;
  double parameter_scale = 1.0;
  std::size_t input_elements = 0;  // of a batch
  std::vector<double> losses;      // per step, before its update
  std::vector<double> gradient_norms_step0;
  std::vector<Parameter> parameters_after;  // w1, b1, w2, ...
};

const std::vector<Case>& cases();
std::string case_name(const Case& golden);  // mlp_784_128_10_sgd

// The generator of the formula: u(seed, 0), u(seed, 1), ..., times `scale`, plus `offset`.
std::vector<double> u(std::uint64_t seed, std::size_t count, double scale, double offset);
std::vector<std::int32_t> labels_of(const Case& golden, std::int64_t step);

// How many losses are a fair test in f32, by the reasons in the file: a ReLU gate of
// mlp:784-512-256-10 flips after four steps, and Adam amplifies rounding from its first update on.
std::size_t fair_losses_f32(const Case& golden);

}  // namespace stepscope::golden
