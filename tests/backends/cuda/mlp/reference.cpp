// An MLP in double, loops in the order of the formulas.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/mlp/reference.h"

#include <algorithm>
#include <cmath>

#include "ops/base/philox.h"

namespace stepscope::mlp {

Batch batch_of(const Sizes& sizes, std::uint64_t seed) {
  Philox random(seed);
  Batch batch;
  batch.images.resize(static_cast<std::size_t>(sizes.rows * sizes.features.front()));
  for (float& value : batch.images) value = static_cast<float>(random.uniform());
  for (int row = 0; row < sizes.rows; ++row) {
    batch.labels.push_back(
        static_cast<int>(random.below(static_cast<std::uint64_t>(sizes.features.back()))));
  }
  return batch;
}

Parameters parameters_of(const Sizes& sizes, std::uint64_t seed) {
  Philox random(seed);
  Parameters all;
  for (int layer = 0; layer < kLayers; ++layer) {
    const LayerShape shape = shape_of(sizes, layer);
    const double most = std::sqrt(6.0 / (shape.in + shape.out));
    const auto draw = [&] { return static_cast<float>(random.uniform(-most, most)); };
    auto& values = all[static_cast<std::size_t>(layer)];
    values.assign(shape.count(), 0.0F);
    for (int i = 0; i < shape.in * shape.out; ++i) values[static_cast<std::size_t>(i)] = draw();
    for (std::size_t i = shape.bias_at(); i < values.size(); ++i) values[i] = draw();
  }
  return all;
}

Reference::Reference(const Sizes& sizes, const Parameters& start, double rate)
    : sizes_(sizes), rate_(rate) {
  for (std::size_t i = 0; i < kLayers; ++i) parameters_[i].assign(start[i].begin(), start[i].end());
}

// in {rows, shape.in} -> {rows, shape.out}, with ReLU but for the last layer
Reference::Values Reference::forward(const Values& in, int layer) const {
  const LayerShape shape = shape_of(sizes_, layer);
  const Values& p = parameters_[static_cast<std::size_t>(layer)];
  Values out;
  for (int row = 0; row < sizes_.rows; ++row) {
    for (int o = 0; o < shape.out; ++o) {
      double sum = p[shape.bias_at() + static_cast<std::size_t>(o)];
      const double* weights = p.data() + o * shape.in;
      const double* values = in.data() + row * shape.in;
      for (int i = 0; i < shape.in; ++i) sum += weights[i] * values[i];
      out.push_back(layer + 1 < kLayers ? std::max(sum, 0.0) : sum);
    }
  }
  return out;
}

// in {rows, shape.in}, out_gradient {rows, shape.out} -> gradient of in; then the layer is updated
Reference::Values Reference::backward(const Values& in, const Values& out_gradient, int layer) {
  const LayerShape shape = shape_of(sizes_, layer);
  Values& p = parameters_[static_cast<std::size_t>(layer)];
  Values gradient(p.size(), 0.0), in_gradient(in.size(), 0.0);
  for (int row = 0; row < sizes_.rows; ++row) {
    for (int o = 0; o < shape.out; ++o) {
      const double dy = out_gradient[static_cast<std::size_t>(row * shape.out + o)];
      gradient[shape.bias_at() + static_cast<std::size_t>(o)] += dy;
      for (int i = 0; i < shape.in; ++i) {
        const auto weight = static_cast<std::size_t>(o * shape.in + i);
        const auto value = static_cast<std::size_t>(row * shape.in + i);
        gradient[weight] += dy * in[value];
        if (in[value] > 0) in_gradient[value] += dy * p[weight];
      }
    }
  }
  for (std::size_t i = 0; i < p.size(); ++i) p[i] -= rate_ * gradient[i];
  return in_gradient;
}

double Reference::step(const Batch& batch) {
  std::array<Values, kLayers + 1> values;
  values[0].assign(batch.images.begin(), batch.images.end());
  for (int layer = 0; layer < kLayers; ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    values[at + 1] = forward(values[at], layer);
  }
  const int classes = sizes_.features.back();
  Values gradient = values.back();
  double loss = 0;
  for (int row = 0; row < sizes_.rows; ++row) {
    double* logits = gradient.data() + row * classes;
    const int label = batch.labels[static_cast<std::size_t>(row)];
    const double most = *std::max_element(logits, logits + classes), chosen = logits[label];
    double sum = 0;
    for (int i = 0; i < classes; ++i) sum += std::exp(logits[i] - most);
    loss += std::log(sum) + most - chosen;
    for (int i = 0; i < classes; ++i) {
      logits[i] = (std::exp(logits[i] - most) / sum - (i == label ? 1 : 0)) / sizes_.rows;
    }
  }
  for (int layer = kLayers - 1; layer >= 0; --layer) {
    gradient = backward(values[static_cast<std::size_t>(layer)], gradient, layer);
  }
  return loss / sizes_.rows;
}

}  // namespace stepscope::mlp
