// Reading steps.json and rebuilding its inputs.
// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/golden_cases.h"

#include <cctype>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

namespace stepscope::golden {
namespace {

using Json = nlohmann::json;

std::size_t product(const std::vector<std::size_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::size_t{1}, std::multiplies<>());
}

Parameter parameter_from(const Json& json) {
  Parameter made{product(json.at("shape")), json.at("norm"), json.at("sum"), {}};
  for (const Json& sample : json.at("samples")) made.samples.push_back({sample[0], sample[1]});
  return made;
}

Case case_from(const Json& json) {
  Case made;
  made.model = json.at("model");
  made.optimizer.kind = optimizer_kind(json.at("optimizer").get<std::string>());
  made.optimizer.rate = json.at("lr");
  made.optimizer.mu = json.value("mu", made.optimizer.mu);
  made.optimizer.beta1 = json.value("beta1", made.optimizer.beta1);
  made.optimizer.beta2 = json.value("beta2", made.optimizer.beta2);
  made.optimizer.epsilon = json.value("eps", made.optimizer.epsilon);
  made.batch = json.at("input")[0];
  made.classes = json.at("classes");
  made.parameter_scale = json.at("parameter_scale");
  made.input_elements = product(json.at("input"));
  made.losses = json.at("losses").get<std::vector<double>>();
  made.gradient_norms_step0 = json.at("gradient_norms_step0").get<std::vector<double>>();
  for (const Json& each : json.at("parameters_after")) {
    made.parameters_after.push_back(parameter_from(each));
  }
  return made;
}

}  // namespace

const std::vector<Case>& cases() {
  static const std::vector<Case> all = [] {
    std::ifstream stream(STEPSCOPE_GOLDEN_DIR "/steps.json");
    const Json file = Json::parse(stream);
    std::vector<Case> made;
    for (const Json& each : file.at("cases")) made.push_back(case_from(each));
    return made;
  }();
  return all;
}

std::string case_name(const Case& golden) {
  std::string text = golden.model + "_" + std::string(name(golden.optimizer.kind));
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

std::vector<double> u(std::uint64_t seed, std::size_t count, double scale, double offset) {
  std::vector<double> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto low = static_cast<std::uint32_t>(i * 2654435761U + seed * 40503U + 12345U);
    all[i] = (low * 0x1p-32 - 0.5) * scale + offset;
  }
  return all;
}

std::vector<std::int32_t> labels_of(const Case& golden, std::int64_t step) {
  std::vector<std::int32_t> labels;
  for (std::int64_t n = 0; n < golden.batch; ++n) {
    labels.push_back(static_cast<std::int32_t>((7 * n + 3 * step) % golden.classes));
  }
  return labels;
}

std::size_t fair_losses_f32(const Case& golden) {
  if (golden.optimizer.kind == OptimizerSpec::Kind::adam) return 1;
  return golden.model == "mlp:784-512-256-10" ? 4 : golden.losses.size();
}

}  // namespace stepscope::golden
