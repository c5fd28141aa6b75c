// Random steps.
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "ops/base/philox.h"
#include "ops/ir/op_def.h"
#include "ops/ir/verify.h"

namespace stepscope::test {
namespace {

void infer_mixing(std::span<const TensorType>, const Attrs& attrs, TypeList& out) {
  out.push_back(std::get<FillAttrs>(attrs).type);
}

void infer_saving(std::span<const TensorType> in, const Attrs& attrs, TypeList& out) {
  infer_mixing(in, attrs, out);
  out.push_back({{1}, DType::u8});  // the kernel tells the real size
}

Work no_work(std::span<const TensorType>, std::span<const TensorType>, const Attrs&) { return {}; }

class StepMaker {
 public:
  explicit StepMaker(std::uint64_t seed) : draws_(seed) {}

  Step run() {
    rate_ = graph_.declare(Role::state, {Shape{}, DType::f32}, std::string(kLearningRate));
    for (std::uint64_t i = 0; i <= draws_.below(2); ++i) {
      readable_.push_back(graph_.declare(Role::input, random_type(), fmt::format("x{}", i)));
    }
    for (std::uint64_t i = 0; i <= draws_.below(3); ++i) {
      readable_.push_back(graph_.declare(Role::parameter, random_type(), fmt::format("w{}", i)));
    }
    const std::size_t ops = 1 + draws_.below(50);
    while (graph_.ops().size() < ops) append();
    verify(graph_, "random step");
    return {std::make_shared<const Graph>(std::move(graph_)), std::move(needs_)};
  }

 private:
  bool one_in(std::uint64_t n) { return draws_.below(n) == 0; }

  TensorType random_type() {
    const auto dim = [&] { return static_cast<std::int64_t>(1 + draws_.below(30)); };
    return {{dim(), dim()}, DType::f32};
  }

  // Half of the time one of the last three, so that values die soon and can be written over.
  ValueId pick() {
    const std::uint64_t newest = std::min<std::uint64_t>(3, readable_.size());
    const std::uint64_t back = draws_.below(one_in(2) ? newest : readable_.size());
    return readable_[readable_.size() - 1 - static_cast<std::size_t>(back)];
  }

  std::vector<ValueId> pick_some() {
    std::vector<ValueId> inputs;
    for (std::uint64_t i = 0; i <= draws_.below(3); ++i) inputs.push_back(pick());
    return inputs;
  }

  void append() {
    switch (draws_.below(8)) {
      case 0:
        append_view();
        break;
      case 1:
        append_saving();
        break;
      case 2:
        append_update();
        break;
      default:
        append_mixing();
        break;
    }
    if (one_in(12)) keep_one();
  }

  void append_view() {
    const ValueId shown = pick();
    if (graph_.value(shown).role == Role::saved) return;
    readable_.push_back(graph_.reshape(shown, {graph_.type(shown).shape.elements()}));
  }

  void append_saving() {
    const auto [mixed, saved] = mix_and_save(graph_, pick_some(), random_type());
    readable_.insert(readable_.end(), {mixed, saved});
    add_needs();
  }

  void append_mixing() {
    ValueId mixed;
    if (one_in(4) && can_repeat()) {
      const Op op = graph_.ops().back();
      mixed = graph_.apply1(op.kind, op.inputs, op.attrs);
    } else {
      const std::vector<ValueId> inputs = pick_some();
      const bool same = !one_in(3) && graph_.value(inputs[0]).role != Role::saved;
      mixed = mix(graph_, inputs, same ? graph_.type(inputs[0]) : random_type(),
                  static_cast<double>(draws_.below(2)));
    }
    if (!one_in(10)) readable_.push_back(mixed);  // else nobody reads it
    add_needs();
  }

  bool can_repeat() const {
    return !graph_.ops().empty() && graph_.ops().back().kind == mixing_op();
  }

  void append_update() {
    const ValueId old = pick();
    if (graph_.value(old).role != Role::parameter || graph_.value(old).sharing == Sharing::view) {
      return;
    }
    const ValueId gradient = mix(graph_, {pick()}, graph_.type(old));
    add_needs();
    const ValueId updated = graph_.apply1(OpKind::SgdUpdate, {old, gradient, rate_}, SgdAttrs{});
    add_needs();
    const ValueId storage = graph_.storage(old);
    std::erase_if(readable_, [&](ValueId id) { return graph_.storage(id) == storage; });
    readable_.push_back(updated);
  }

  void keep_one() {
    const ValueId id = pick();
    const Value& value = graph_.value(id);
    if (value.kept || value.producer < 0 || value.role == Role::parameter) return;
    graph_.keep(id, fmt::format("kept{}", id.index));
  }

  void add_needs() {
    Needs needs;
    if (one_in(3)) needs.scratch = 1 + draws_.below(2000);
    needs.saved = draws_.below(500);
    needs.in_place = draws_.next_u32();
    if (one_in(5)) {
      for (const ValueId id : graph_.ops().back().outputs) {
        needs.output_bytes.push_back(graph_.type(id).bytes() + draws_.below(300));
      }
    }
    needs_.push_back(std::move(needs));
  }

  Philox draws_;
  Graph graph_;
  std::vector<Needs> needs_;
  ValueId rate_;
  std::vector<ValueId> readable_;
};

class CnnMaker {
 public:
  CnnMaker(std::uint64_t seed, std::int64_t batch) : draws_(seed), batch_(batch) {}

  Step run() {
    rate_ = graph_.declare(Role::state, {Shape{}, DType::f32}, std::string(kLearningRate));
    std::int64_t side = 16 + static_cast<std::int64_t>(draws_.below(17));
    ValueId h = graph_.declare(Role::input, images(1, side), "x");
    const std::uint64_t layers = 2 + draws_.below(3);
    for (std::uint64_t i = 0; i < layers && side >= 4; ++i) {
      const std::int64_t channels = 4 + static_cast<std::int64_t>(draws_.below(13));
      h = append_layer(h, channels, side);
      side /= 2;
    }
    const ValueId loss = append({h}, {Shape{}, DType::f32}, 0);
    graph_.keep(loss, "loss");
    ValueId gradient = append({loss, h}, graph_.type(h), 0);
    for (std::size_t i = layers_.size(); i-- > 0;) gradient = append_backward(layers_[i], gradient);
    verify(graph_, "random cnn");
    return {std::make_shared<const Graph>(std::move(graph_)), std::move(needs_)};
  }

 private:
  struct Layer {
    ValueId input, weights, bias, active, winners;
  };

  TensorType images(std::int64_t channels, std::int64_t side) const {
    return {{batch_, channels, side, side}, DType::f32};
  }

  ValueId append(std::vector<ValueId> inputs, const TensorType& type, std::uint32_t in_place,
                 std::size_t scratch = 0) {
    needs_.push_back({.scratch = scratch, .in_place = in_place});
    return mix(graph_, std::move(inputs), type);
  }

  ValueId append_layer(ValueId input, std::int64_t channels, std::int64_t side) {
    const std::int64_t fan_in = graph_.type(input).shape[1] * 9;
    Layer layer{.input = input};
    layer.weights = graph_.declare(Role::parameter, {{fan_in, channels}, DType::f32},
                                   fmt::format("w{}", layers_.size()));
    layer.bias = graph_.declare(Role::parameter, {{channels}, DType::f32},
                                fmt::format("b{}", layers_.size()));
    const auto columns = static_cast<std::size_t>(fan_in * side * side) * sizeof(float);
    const ValueId z = append({input, layer.weights}, images(channels, side), 0, columns);
    const ValueId biased = append({z, layer.bias}, graph_.type(z), 0b01);
    layer.active = append({biased}, graph_.type(z), 0b01);
    const auto [pooled, winners] = mix_and_save(graph_, {layer.active}, images(channels, side / 2));
    needs_.push_back({.saved = static_cast<std::size_t>(graph_.type(pooled).shape.elements())});
    layer.winners = winners;
    layers_.push_back(layer);
    return pooled;
  }

  ValueId append_backward(const Layer& layer, ValueId gradient) {
    const ValueId unpooled = append({gradient, layer.winners}, graph_.type(layer.active), 0);
    const ValueId dz = append({unpooled, layer.active}, graph_.type(layer.active), 0b01);
    update(layer.bias, append({dz}, graph_.type(layer.bias), 0));
    const ValueId dx = append({dz, layer.weights}, graph_.type(layer.input), 0);
    update(layer.weights, append({layer.input, dz}, graph_.type(layer.weights), 0));
    return dx;
  }

  void update(ValueId parameter, ValueId gradient) {
    graph_.apply(OpKind::SgdUpdate, {parameter, gradient, rate_}, SgdAttrs{});
    needs_.emplace_back();
  }

  Philox draws_;
  std::int64_t batch_;
  Graph graph_;
  std::vector<Needs> needs_;
  ValueId rate_;
  std::vector<Layer> layers_;
};

}  // namespace

OpKind mixing_op() {
  static const OpKind kind = add_op({.name = "TestMixing",
                                     .infer = infer_mixing,
                                     .work = no_work,
                                     .attrs = FillAttrs{},
                                     .in_place = ~0U});
  return kind;
}

OpKind saving_op() {
  static const OpKind kind = add_op({.name = "TestSaving",
                                     .infer = infer_saving,
                                     .work = no_work,
                                     .attrs = FillAttrs{},
                                     .saved_outputs = 0b10});
  return kind;
}

ValueId mix(Graph& graph, std::vector<ValueId> inputs, const TensorType& type, double value) {
  return graph.apply1(mixing_op(), std::move(inputs), FillAttrs{type, value});
}

MixedAndSaved mix_and_save(Graph& graph, std::vector<ValueId> inputs, const TensorType& type) {
  const std::vector<ValueId> out =
      graph.apply(saving_op(), std::move(inputs), FillAttrs{type, 0.0});
  return {out[0], out[1]};
}

Step step_of(Graph graph, std::uint32_t in_place) {
  const std::size_t ops = graph.ops().size();
  return {std::make_shared<const Graph>(std::move(graph)),
          std::vector<Needs>(ops, Needs{.in_place = in_place})};
}

Step random_step(std::uint64_t seed) { return StepMaker(seed).run(); }

Step random_cnn(std::uint64_t seed, std::int64_t batch) { return CnnMaker(seed, batch).run(); }

Plan plan_of(const Step& step, const PlanOptions& options) {
  const Graph* graph = step.graph.get();
  return make_plan(step.graph, step.needs, ModelLayout({&graph, 1}, options.alignment), options);
}

}  // namespace stepscope::test
