// Describing the step, and training it.
// SPDX-License-Identifier: Apache-2.0
#include "training.h"

#include "graph/passes/fusion.h"
#include "ops/base/philox.h"
#include "ops/models/classifier.h"
#include "softplus.h"

namespace consumer {
namespace {

using namespace stepscope;

constexpr std::int64_t kBatch = 64;
constexpr int kSteps = 60;

struct Data {
  std::vector<float> x;
  std::vector<std::int32_t> labels;
};

// Within or beyond a circle.
Data make_data() {
  Data data;
  Philox random(3);
  for (std::int64_t i = 0; i < kBatch; ++i) {
    const double a = random.normal();
    const double b = random.normal();
    data.x.push_back(static_cast<float>(a));
    data.x.push_back(static_cast<float>(b));
    data.labels.push_back(a * a + b * b < 1.4 ? 1 : 0);
  }
  return data;
}

}  // namespace

Model make_model() {
  ClassifierSpec spec;
  spec.name = "softplus_net";
  spec.row = {2};
  spec.classes = 2;
  spec.net = [](Layers& layers, ValueId x) {
    return layers.dense(softplus(layers.graph(), layers.dense(x, 24)), 2);
  };
  spec.optimizer.rate = 0.5;
  return make_classifier(spec);
}

Trained train(Backend& backend, Mode mode, const std::string& fusion) {
  SessionOptions options;
  options.mode = mode;
  options.step_batches = {kBatch};
  options.passes = passes_for(parse_fusion(fusion), backend.wishes());
  Session session(backend, make_model(), options);
  const Data data = make_data();
  session.load(data.x, data.labels);
  const Counters before = session.stream().counters();
  Trained trained;
  for (int step = 0; step < kSteps; ++step) {
    session.enqueue_step(kBatch);
    trained.losses.push_back(session.loss(kBatch));
  }
  trained.ran_as_asked = executed_mode(session.stream().counters() - before) == mode;
  trained.state = session.parameters_and_states();
  return trained;
}

}  // namespace consumer
