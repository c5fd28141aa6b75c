// The same step in double, from its definition alone; and data to train on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/backends/cuda/mlp/step.h"

namespace stepscope::mlp {

Batch batch_of(const Sizes& sizes, std::uint64_t seed);
Parameters parameters_of(const Sizes& sizes, std::uint64_t seed);

class Reference {
 public:
  Reference(const Sizes& sizes, const Parameters& start, double rate);
  double step(const Batch& batch);  // the loss before the update

  // As LayerShape; the gap is the start's.
  const std::array<std::vector<double>, kLayers>& parameters() const { return parameters_; }

 private:
  using Values = std::vector<double>;
  Values forward(const Values& in, int layer) const;
  Values backward(const Values& in, const Values& out_gradient, int layer);

  Sizes sizes_;
  double rate_;
  std::array<Values, kLayers> parameters_;
};

}  // namespace stepscope::mlp
