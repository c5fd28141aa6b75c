// The MLP, described once.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/mlp.h"

#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/models/classifier.h"
#include "ops/models/settings.h"

namespace stepscope {
namespace {

using Activate = ValueId (*)(Graph&, ValueId);

Model make(std::string_view kind, std::string_view settings, Activate activate,
           const OptimizerSpec& optimizer) {
  const std::string spec = fmt::format("{}:{}", kind, settings);
  const std::vector<std::int64_t> sizes =
      settings.empty() ? std::vector<std::int64_t>{784, 128, 10} : parse_sizes(settings, '-', spec);
  check(sizes.size() >= 2, Fault::bad_input,
        "model '{}': needs at least two sizes, input and classes, as in {}:784-128-10", spec, kind);
  check(sizes.back() >= 2, Fault::bad_input, "model '{}': {} class is no choice, 2 at least", spec,
        sizes.back());
  const auto net = [sizes, activate](Layers& layers, ValueId h) {
    for (std::size_t layer = 1; layer + 1 < sizes.size(); ++layer) {
      h = activate(layers.graph(), layers.dense(h, sizes[layer]));
    }
    return layers.dense(h, sizes.back());
  };
  return make_classifier({.name = fmt::format("{}:{}", kind, fmt::join(sizes, "-")),
                          .row = {sizes.front()},
                          .classes = sizes.back(),
                          .net = net,
                          .optimizer = optimizer});
}

}  // namespace

Model make_mlp(std::string_view settings, const OptimizerSpec& optimizer) {
  return make("mlp", settings, build::relu, optimizer);
}

Model make_mlp_tanh(std::string_view settings, const OptimizerSpec& optimizer) {
  return make("mlp_tanh", settings, build::tanh, optimizer);
}

}  // namespace stepscope
