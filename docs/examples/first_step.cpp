// A first program with stepscope: describe a training step once, see what it is made of, run it in
// three modes, read the loss and count the launches. Explained in docs/cpp-api.md.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <vector>

#include "backends/execution/session.h"
#include "backends/registry/registry.h"
#include "ops/autodiff/backward.h"
#include "ops/base/philox.h"
#include "ops/ir/build.h"
#include "ops/ir/print.h"
#include "ops/models/settings.h"

using namespace stepscope;

// Two numbers in, two classes out. The graph holds the whole step: forward, loss, backward, update.
Graph describe_step(std::int64_t batch, const OptimizerSpec& optimizer) {
  Graph graph;
  const ValueId x = graph.declare(Role::input, {{batch, 2}, DType::f32}, "x");
  const ValueId labels = graph.declare(Role::input, {{batch}, DType::i32}, "labels");
  const std::array parameters = {
      graph.declare(Role::parameter, {{2, 16}, DType::f32}, "w1"),
      graph.declare(Role::parameter, {{16}, DType::f32}, "b1"),
      graph.declare(Role::parameter, {{16, 2}, DType::f32}, "w2"),
      graph.declare(Role::parameter, {{2}, DType::f32}, "b2"),
  };
  const ValueId hidden = build::tanh(
      graph, build::add_bias(graph, build::matmul(graph, x, parameters[0]), parameters[1]));
  const ValueId logits =
      build::add_bias(graph, build::matmul(graph, hidden, parameters[2]), parameters[3]);
  graph.enter(Phase::loss);
  const ValueId loss = build::softmax_cross_entropy(graph, logits, labels).loss;
  graph.keep(loss, "loss");  // readable after the step
  graph.enter(Phase::backward);
  const std::vector<ValueId> gradients = add_backward(graph, loss, parameters);
  append_updates(graph, parameters, gradients, optimizer);
  return graph;
}

// A model is a step at any batch size, and how its parameters and states start.
Model make_first_model() {
  const OptimizerSpec optimizer{.rate = 0.5};
  Model model;
  model.name = "first";
  model.step = [optimizer](std::int64_t batch) { return describe_step(batch, optimizer); };
  for (const auto& [name, fan_in] : {std::pair{"w1", 2}, {"w2", 16}}) {
    Initial weights;
    weights.name = name;
    weights.kind = Initial::Kind::he_normal;
    weights.fan_in = fan_in;
    model.initial.push_back(weights);
  }
  for (const char* name : {"b1", "b2"}) model.initial.emplace_back().name = name;
  add_optimizer_states(model.initial, optimizer);
  model.row = {2};
  model.features = 2;
  model.classes = 2;
  return model;
}

int main() {
  constexpr std::int64_t kBatch = 64;
  std::vector<float> x;
  std::vector<std::int32_t> labels;
  for (Philox random(1); labels.size() < kBatch;) {  // is the product of two numbers positive?
    const auto a = static_cast<float>(random.normal());
    const auto b = static_cast<float>(random.normal());
    x.insert(x.end(), {a, b});
    labels.push_back(a * b > 0.0F ? 1 : 0);
  }

  const Model model = make_first_model();
  fmt::print("The step, op by op:\n\n{}\n", to_text(model.step(kBatch)));

  const auto backend = Registry::builtin().make("reference", {});
  for (const Mode mode : {Mode::eager, Mode::planned, Mode::graph}) {
    SessionOptions options;
    options.mode = mode;
    options.step_batches = {kBatch};
    Session session(*backend, model, options);
    session.load(x, labels);
    const Counters before = session.stream().counters();
    session.enqueue_step(kBatch);
    const double first = session.loss(kBatch);
    for (int step = 1; step < 200; ++step) session.enqueue_step(kBatch);
    const double last = session.loss(kBatch);
    const Counters counted = session.stream().counters() - before;
    fmt::print("{:8} loss {:.6f} -> {:.6f}, {} launches one by one, {} replays, {} look-ups\n",
               name(mode), first, last, counted.submitted, counted.replays, counted.lookups);
  }
}
