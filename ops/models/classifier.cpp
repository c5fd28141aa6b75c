// Step, evaluation and initial values of a classifier.
// SPDX-License-Identifier: Apache-2.0
#include "ops/models/classifier.h"

#include "ops/autodiff/backward.h"
#include "ops/base/check.h"
#include "ops/ir/build.h"
#include "ops/ir/verify.h"
#include "ops/models/settings.h"

namespace stepscope {
namespace {

Shape batch_of(const Shape& row, std::int64_t batch) {
  std::vector<std::int64_t> dims(row.dims().begin(), row.dims().end());
  dims.insert(dims.begin(), batch);
  return Shape(dims);
}

struct Forward {
  std::vector<ValueId> parameters;  // w1, b1, w2, b2, ...
  std::vector<Initial> initial;     // of these
  ValueId logits, labels, loss;
};

Forward append_forward(Graph& graph, const ClassifierSpec& spec, std::int64_t batch) {
  Forward forward;
  const ValueId x = graph.declare(Role::input, {batch_of(spec.row, batch), DType::f32}, "x");
  forward.labels = graph.declare(Role::input, {{batch}, DType::i32}, "labels");
  Layers layers(graph);
  forward.logits = spec.net(layers, x);
  forward.parameters = layers.parameters();
  forward.initial = layers.initial();
  graph.enter(Phase::loss);
  forward.loss = build::softmax_cross_entropy(graph, forward.logits, forward.labels).loss;
  graph.keep(forward.loss, "loss");
  return forward;
}

Graph step(const ClassifierSpec& spec, std::int64_t batch) {
  Graph graph;
  const Forward forward = append_forward(graph, spec, batch);
  graph.enter(Phase::backward);
  const auto gradients = add_backward(graph, forward.loss, forward.parameters);
  append_updates(graph, forward.parameters, gradients, spec.optimizer);
  verify(graph, spec.name + " step");
  return graph;
}

Graph evaluation(const ClassifierSpec& spec, std::int64_t batch) {
  Graph graph;
  const Forward forward = append_forward(graph, spec, batch);
  graph.keep(build::correct_count(graph, forward.logits, forward.labels), "correct");
  verify(graph, spec.name + " evaluation");
  return graph;
}

std::vector<Initial> initial_values(const ClassifierSpec& spec) {
  Graph graph;
  std::vector<Initial> all = append_forward(graph, spec, 1).initial;
  add_optimizer_states(all, spec.optimizer);
  return all;
}

}  // namespace

ValueId Layers::weights(const Shape& shape, std::int64_t fan_in) {
  std::string name = fmt::format("w{}", parameters_.size() / 2 + 1);
  parameters_.push_back(graph_.declare(Role::parameter, {shape, DType::f32}, name));
  initial_.push_back({.name = std::move(name), .kind = Initial::Kind::he_normal, .fan_in = fan_in});
  return parameters_.back();
}

ValueId Layers::bias(std::int64_t out) {
  std::string name = fmt::format("b{}", parameters_.size() / 2 + 1);
  parameters_.push_back(graph_.declare(Role::parameter, {{out}, DType::f32}, name));
  initial_.push_back({.name = std::move(name)});
  return parameters_.back();
}

ValueId Layers::dense(ValueId x, std::int64_t out) {
  const std::int64_t in = graph_.type(x).shape[1];
  const ValueId w = weights({in, out}, in);
  const ValueId b = bias(out);
  return build::add_bias(graph_, build::matmul(graph_, x, w), b);
}

ValueId Layers::convolution(ValueId x, std::int64_t out, std::int64_t side, std::int64_t pad) {
  const std::int64_t channels = graph_.type(x).shape[1];
  const ValueId w = weights({out, channels, side, side}, channels * side * side);
  const ValueId b = bias(out);
  const ValueId y = graph_.apply1(OpKind::Conv2d, {x, w}, Conv2dAttrs{.pad_h = pad, .pad_w = pad});
  return build::add_bias(graph_, y, b);
}

ValueId Layers::pool(ValueId x) {
  return graph_.apply(OpKind::MaxPool, {x}, Pool2dAttrs{}).front();
}

ValueId Layers::flatten(ValueId x) {
  const Shape& shape = graph_.type(x).shape;
  return graph_.reshape(x, {shape[0], shape.elements() / shape[0]});
}

Model make_classifier(const ClassifierSpec& spec) {
  return {.name = spec.name,
          .step = [spec](std::int64_t batch) { return step(spec, batch); },
          .evaluation = [spec](std::int64_t batch) { return evaluation(spec, batch); },
          .initial = initial_values(spec),
          .row = spec.row,
          .features = spec.row.elements(),
          .classes = spec.classes};
}

}  // namespace stepscope
