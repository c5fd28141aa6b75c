// Classifiers: what every net that ends in softmax and cross-entropy has in common. A net says its
// layers; inputs, loss, gradients, updates, evaluation and initial values follow.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ops/models/model.h"

namespace stepscope {

// Appends layers and declares their parameters: w1, b1, w2, ... in the order of the calls. Weights
// start as He's normal numbers, biases at zero.
class Layers {
 public:
  explicit Layers(Graph& graph) : graph_(graph) {}

  // x {N, in} -> x W + b {N, out}, with W {in, out}.
  ValueId dense(ValueId x, std::int64_t out);
  // x {N, C, H, W} -> {N, out, ...}, with a square kernel {out, C, side, side} and zeros of width
  // `pad` around x; stride 1.
  ValueId convolution(ValueId x, std::int64_t out, std::int64_t side, std::int64_t pad);
  // The largest of each 2 x 2, apart from each other.
  ValueId pool(ValueId x);
  // {N, ...} -> {N, elements of a row}
  ValueId flatten(ValueId x);

  Graph& graph() { return graph_; }
  const std::vector<ValueId>& parameters() const { return parameters_; }
  const std::vector<Initial>& initial() const { return initial_; }

 private:
  ValueId weights(const Shape& shape, std::int64_t fan_in);
  ValueId bias(std::int64_t out);  // behind its weights

  Graph& graph_;
  std::vector<ValueId> parameters_;
  std::vector<Initial> initial_;
};

struct ClassifierSpec {
  std::string name;  // of the model, canonical
  Shape row;         // of x, without the batch
  std::int64_t classes = 0;
  // From x {batch, row...} to logits {batch, classes}.
  std::function<ValueId(Layers& layers, ValueId x)> net;
  OptimizerSpec optimizer;
};

Model make_classifier(const ClassifierSpec& spec);

}  // namespace stepscope
