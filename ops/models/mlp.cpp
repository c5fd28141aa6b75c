// The MLP, described once. Layers are y = x W + b with W {in, out}.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/mlp.h"

#include "ops/autodiff/backward.h"
#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/ir/verify.h"
#include "ops/models/settings.h"

namespace stepscope {
namespace {

using Activation = ValueId (*)(Graph&, ValueId);

struct Mlp {
  std::vector<std::int64_t> sizes;
  Activation activation;
  OptimizerSpec optimizer;
};

struct Forward {
  std::vector<ValueId> parameters;  // w1, b1, w2, b2, ...
  ValueId logits, labels, loss;
};

Forward append_forward(Graph& graph, const Mlp& mlp, std::int64_t batch) {
  Forward forward;
  ValueId h = graph.declare(Role::input, {{batch, mlp.sizes.front()}, DType::f32}, "x");
  forward.labels = graph.declare(Role::input, {{batch}, DType::i32}, "labels");
  for (std::size_t layer = 1; layer < mlp.sizes.size(); ++layer) {
    const std::int64_t in = mlp.sizes[layer - 1];
    const std::int64_t out = mlp.sizes[layer];
    const ValueId w =
        graph.declare(Role::parameter, {{in, out}, DType::f32}, fmt::format("w{}", layer));
    const ValueId b =
        graph.declare(Role::parameter, {{out}, DType::f32}, fmt::format("b{}", layer));
    forward.parameters.insert(forward.parameters.end(), {w, b});
    h = build::add_bias(graph, build::matmul(graph, h, w), b);
    if (layer + 1 < mlp.sizes.size()) h = mlp.activation(graph, h);
  }
  forward.logits = h;
  graph.enter(Phase::loss);
  forward.loss = build::softmax_cross_entropy(graph, forward.logits, forward.labels).loss;
  graph.keep(forward.loss, "loss");
  return forward;
}

Graph step(const Mlp& mlp, std::int64_t batch) {
  Graph graph;
  const Forward forward = append_forward(graph, mlp, batch);
  graph.enter(Phase::backward);
  const auto gradients = add_backward(graph, forward.loss, forward.parameters);
  append_updates(graph, forward.parameters, gradients, mlp.optimizer);
  verify(graph, "mlp step");
  return graph;
}

Graph evaluation(const Mlp& mlp, std::int64_t batch) {
  Graph graph;
  const Forward forward = append_forward(graph, mlp, batch);
  graph.keep(build::correct_count(graph, forward.logits, forward.labels), "correct");
  verify(graph, "mlp evaluation");
  return graph;
}

std::vector<Initial> initial_values(const Mlp& mlp) {
  std::vector<Initial> all;
  for (std::size_t layer = 1; layer < mlp.sizes.size(); ++layer) {
    all.push_back({.name = fmt::format("w{}", layer),
                   .kind = Initial::Kind::he_normal,
                   .fan_in = mlp.sizes[layer - 1]});
    all.push_back({.name = fmt::format("b{}", layer)});
  }
  add_optimizer_states(all, mlp.optimizer);
  return all;
}

Model make(std::string_view kind, std::string_view settings, Activation activation,
           const OptimizerSpec& optimizer) {
  const std::string spec = fmt::format("{}:{}", kind, settings);
  Mlp mlp{
      settings.empty() ? std::vector<std::int64_t>{784, 128, 10} : parse_sizes(settings, '-', spec),
      activation, optimizer};
  check(mlp.sizes.size() >= 2, Fault::bad_input,
        "model '{}': needs at least two sizes, input and classes, as in {}:784-128-10", spec, kind);
  check(mlp.sizes.back() >= 2, Fault::bad_input, "model '{}': {} class is no choice, 2 at least",
        spec, mlp.sizes.back());
  return {.name = fmt::format("{}:{}", kind, fmt::join(mlp.sizes, "-")),
          .step = [mlp](std::int64_t batch) { return step(mlp, batch); },
          .evaluation = [mlp](std::int64_t batch) { return evaluation(mlp, batch); },
          .initial = initial_values(mlp),
          .features = mlp.sizes.front(),
          .classes = mlp.sizes.back()};
}

}  // namespace

Model make_mlp(std::string_view settings, const OptimizerSpec& optimizer) {
  return make("mlp", settings, build::relu, optimizer);
}

Model make_mlp_tanh(std::string_view settings, const OptimizerSpec& optimizer) {
  return make("mlp_tanh", settings, build::tanh, optimizer);
}

}  // namespace stepscope
