// The nets with convolutions, described once.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/cnn.h"

#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/models/classifier.h"

namespace stepscope {
namespace {

ValueId relu(Layers& layers, ValueId x) { return build::relu(layers.graph(), x); }

ValueId small_cnn(Layers& layers, ValueId h) {
  h = layers.pool(relu(layers, layers.convolution(h, 8, 3, 1)));
  h = layers.pool(relu(layers, layers.convolution(h, 16, 3, 1)));
  return layers.dense(layers.flatten(h), 3);
}

ValueId lenet(Layers& layers, ValueId h) {
  h = layers.pool(relu(layers, layers.convolution(h, 6, 5, 2)));
  h = layers.pool(relu(layers, layers.convolution(h, 16, 5, 0)));
  h = relu(layers, layers.dense(layers.flatten(h), 120));
  h = relu(layers, layers.dense(h, 84));
  return layers.dense(h, 10);
}

void check_bare(std::string_view name, std::string_view settings) {
  check(settings.empty(), Fault::bad_input, "model '{}:{}': {} takes no settings", name, settings,
        name);
}

}  // namespace

Model make_small_cnn(std::string_view settings, const OptimizerSpec& optimizer) {
  check_bare("small_cnn", settings);
  return make_classifier({.name = "small_cnn",
                          .row = {1, 24, 24},
                          .classes = 3,
                          .net = small_cnn,
                          .optimizer = optimizer});
}

Model make_lenet(std::string_view settings, const OptimizerSpec& optimizer) {
  check_bare("lenet", settings);
  return make_classifier(
      {.name = "lenet", .row = {1, 28, 28}, .classes = 10, .net = lenet, .optimizer = optimizer});
}

}  // namespace stepscope
