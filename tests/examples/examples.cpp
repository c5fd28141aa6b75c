// Reading of the examples; rows from Philox.
// SPDX-License-Identifier: Apache-2.0
#include "tests/examples/examples.h"

#include <fstream>
#include <sstream>

#include "ops/base/philox.h"
#include "ops/ir/parse.h"
#include "ops/models/step_model.h"

namespace stepscope::test {

const std::vector<std::string>& example_names() {
  static const std::vector<std::string> names = {"autoencoder",
                                                 "average_pool_cnn",
                                                 "bottleneck_skip",
                                                 "lenet",
                                                 "mlp",
                                                 "mlp_three_hidden",
                                                 "residual_cnn",
                                                 "small_cnn",
                                                 "softmax_regression",
                                                 "strided_cnn",
                                                 "tanh_narrow",
                                                 "two_heads"};
  return names;
}

std::string example_text(const std::string& name) {
  std::ifstream file(std::string(STEPSCOPE_EXAMPLES_DIR) + "/" + name + ".step");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

StepFile example_file(const std::string& name) {
  return parse_step(example_text(name), name + ".step");
}

Model example_model(const std::string& name, const OptimizerSpec& optimizer) {
  return make_step_model(example_file(name), name, optimizer);
}

void load_rows(Session& session, std::int64_t rows, std::uint64_t step) {
  const Model& model = session.model();
  Philox draws(2026, step);
  std::vector<float> x;
  for (std::int64_t i = 0; i < rows * model.features; ++i) {
    x.push_back(static_cast<float>(draws.uniform()));
  }
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < rows && model.classes > 0; ++i) {
    labels.push_back(
        static_cast<std::int32_t>(draws.below(static_cast<std::uint64_t>(model.classes))));
  }
  session.load(x, labels);
}

}  // namespace stepscope::test
