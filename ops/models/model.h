// Model: a workload by name. It describes one training step, and its evaluation, at any batch size;
// parameters and states have the same names and types in each, so that they share one memory.
//
// Names in every graph of a model: input `x` (and i32 `labels`), kept `loss` (and `correct`, the
// count of rows classified right, in the evaluation of a model with labels); a model without a loss
// keeps `out`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ir/graph.h"
#include "ops/models/optimizer.h"

namespace stepscope {

// How a parameter or state starts.
struct Initial {
  enum class Kind : std::uint8_t { constant, he_normal, uniform, file, values };
  std::string name;
  Kind kind = Kind::constant;
  double value = 0.0;       // constant
  std::int64_t fan_in = 1;  // he_normal: deviation sqrt(2 / fan_in) (He et al., ICCV 2015, eq. 10)
  double low = 0.0, high = 1.0;  // uniform: [low, high)
  // file: where the elements lie, as written in the step file; resolved to `values` before use
  std::string file{}, tensor{};
  std::shared_ptr<const std::vector<double>> values{};  // values: row-major elements
};

struct Model {
  std::string name;  // canonical: mlp:784-128-10
  // One training step on `batch` rows: forward, loss, backward, update.
  std::function<Graph(std::int64_t batch)> step;
  // Forward and loss, and with labels the count of correct rows. Empty when the model has no loss:
  // it cannot be trained.
  std::function<Graph(std::int64_t batch)> evaluation;
  std::vector<Initial> initial;  // every parameter and state of `step`
  Shape row;                     // of x, without the batch: {784}, or {1, 28, 28} for images
  std::int64_t features = 0;     // elements of one row of x
  std::int64_t classes = 0;      // labels lie in [0, classes); 0: no labels, x alone

  bool has_loss() const { return static_cast<bool>(evaluation); }
};

// Bytes of the initial value, as `type` stores them. Draws come from Philox(seed, stream), with
// `stream` the place of the parameter in Model::initial, so that no draw depends on another.
// Throws bad_input when a file is not resolved yet, or `values` are not as many as the elements.
std::vector<std::byte> initial_bytes(const Initial& initial, const TensorType& type,
                                     std::uint64_t seed, std::uint64_t stream);

// Throws bad_input: unknown names (with the nearest), sizes that are no sizes.
Model make_model(std::string_view spec, const OptimizerSpec& optimizer = {});

struct CatalogEntry {
  std::string_view name;
  std::string_view syntax;  // mlp[:IN-HIDDEN-...-CLASSES]
  std::string_view summary;
  Model (*make)(std::string_view settings, const OptimizerSpec& optimizer);  // after the colon
};
std::span<const CatalogEntry> catalog();

}  // namespace stepscope
