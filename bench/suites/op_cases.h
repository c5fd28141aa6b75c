// Op cases: the different ops of the models' steps, each of which is timed alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/api/backend.h"
#include "ops/models/model.h"

namespace stepscope::suites {

// Models that between them have every kind of op that a built-in one has.
inline constexpr std::array kOpModels = {"mlp",   "mlp_tanh", "small_cnn",
                                         "lenet", "chain:8",  "fork:2x2"};

// Where an op is found: in a step, or evaluation, of a model.
struct OpPlace {
  std::string model;  // as make_model takes it
  OptimizerSpec::Kind optimizer = OptimizerSpec::Kind::sgd;
  std::string fusion = "off";  // or on
  bool evaluation = false;
  std::int64_t batch = 0;

  friend bool operator==(const OpPlace&, const OpPlace&) = default;
};

struct OpCase {
  std::string kind;    // MatMul
  std::string shape;   // op_shape()
  OpPlace place;       // the first that has it
  std::size_t op = 0;  // its index in the graph of the place
};

// What tells ops of one kind apart, without a space:
//   32x784x128                          products: M, K, N
//   32x1x28x28,8x1x5x5                  the shapes of the inputs; s: a scalar
//   16x8x12x12@3                        a layout of the backend
//   101770                              more than four inputs: elements of all outputs
// then, behind a slash, the settings that are not the usual ones: 784x32x128/transpose_a=true.
std::string op_shape(const OpSite& site);

// The graph of a place as the backend gets it, fused or not.
Graph graph_of(const OpPlace& place, Backend& backend);

// The different ops of these models at these batch sizes, fused and not, in steps and evaluations,
// in the order in which they are met. The first model with parameters that reads vectors and the
// first that reads images are there with every optimizer, the others with SGD alone.
std::vector<OpCase> op_cases(std::span<const std::string> models,
                             std::span<const std::int64_t> batches, Backend& backend);

}  // namespace stepscope::suites
