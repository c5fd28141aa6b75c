// The generator of steps.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/random_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/autodiff/backward.h"
#include "ops/base/philox.h"
#include "ops/ir/build.h"
#include "ops/ir/print.h"
#include "ops/ir/verify.h"

namespace stepscope::test {
namespace {

constexpr std::int64_t kMostElements = 65 * 65;

// Products multiply the digits of their factors: three of them still fit into 24 bits.
constexpr int kHighestDegree = 3;

std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

class Maker {
 public:
  Maker(Contents contents, std::uint64_t seed, std::uint64_t attempt)
      : real_(contents == Contents::real), draws_(seed, 2 * attempt + (real_ ? 1 : 0)) {
    program_.seed = seed;
    program_.contents = contents;
  }

  RandomProgram run() {
    program_.with_passes = one_in(2);
    append_forward();
    append_loss();
    append_backward();
    append_readers(pool_);
    append_updates();
    graph_.enter(Phase::readback);
    std::vector<ValueId> after = pool_;
    std::erase_if(after, [&](ValueId id) { return graph_.value(graph_.storage(id)).producer < 0; });
    after.insert(after.end(), updated_.begin(), updated_.end());
    append_readers(after);
    keep_some(after);
    verify(graph_, "random program");
    program_.classes = classes_;
    program_.graph = std::move(graph_);
    return std::move(program_);
  }

 private:
  using Rule = bool (Maker::*)();

  std::uint64_t below(std::uint64_t bound) { return draws_.below(bound); }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::int64_t dim() { return kDims[below(kDims.size())]; }
  std::size_t rank(ValueId id) const { return graph_.type(id).shape.rank(); }
  const Shape& shape(ValueId id) const { return graph_.type(id).shape; }
  TensorType f32(Shape of) const { return {of, DType::f32}; }

  // Half of the time one of the last four: long chains. Else any: fan-out and long lives.
  ValueId pick() {
    if (hub_uses_ > 0) {
      --hub_uses_;
      return hub_;
    }
    const std::uint64_t newest = std::min<std::uint64_t>(4, pool_.size());
    return pool_[pool_.size() - 1 - below(one_in(2) ? newest : pool_.size())];
  }

  // A random one of the pool that fits; invalid when there is none.
  template <class Fits>
  ValueId pick_where(Fits&& fits) {
    std::vector<ValueId> fitting;
    std::copy_if(pool_.begin(), pool_.end(), std::back_inserter(fitting), fits);
    return fitting.empty() ? ValueId{} : fitting[below(fitting.size())];
  }

  ValueId parameter(Shape of) {
    parameters_.push_back(
        graph_.declare(Role::parameter, f32(of), fmt::format("w{}", parameters_.size())));
    return parameters_.back();
  }

  int degree(ValueId id) const {
    return at(id) < degrees_.size() && degrees_[at(id)] > 0 ? degrees_[at(id)] : 1;
  }

  bool add(ValueId made, int degree) {
    degrees_.resize(graph_.values().size());
    degrees_[at(made)] = degree;
    pool_.push_back(made);
    return true;
  }

  bool product_fits(ValueId a, ValueId b) const {
    return real_ || degree(a) + degree(b) <= kHighestDegree;
  }

  void append_forward() {
    const std::int64_t N = dim();
    const std::int64_t D = dim();
    x_ = graph_.declare(Role::input, f32({N, D}), "x");
    labels_ = graph_.declare(Role::input, {{N}, DType::i32}, "labels");
    pool_.push_back(x_);
    if (one_in(2)) pool_.push_back(graph_.declare(Role::input, f32({N, D}), "y"));
    add(build::matmul(graph_, x_, parameter({D, dim()})), 2);

    static constexpr std::array<Rule, 12> kRules = {
        &Maker::matmul, &Maker::matmul,    &Maker::bias,  &Maker::binary,
        &Maker::binary, &Maker::scale,     &Maker::unary, &Maker::unary,
        &Maker::reduce, &Maker::broadcast, &Maker::view,  &Maker::constant};
    const std::size_t wanted = 5 + below(real_ ? 12 : 8);
    for (std::size_t tried = 0; graph_.ops().size() < wanted && tried < 200; ++tried) {
      if (hub_uses_ == 0 && one_in(6)) {
        hub_ = pick();
        hub_uses_ = 3;
      }
      (this->*kRules[below(kRules.size())])();
    }
    hub_uses_ = 0;
  }

  // a {M, K} x b {K, N}, each transposed or not; b is a value of the pool or a new parameter.
  bool matmul() {
    const ValueId a = pick();
    if (rank(a) != 2) return false;
    const bool ta = one_in(3);
    bool tb = one_in(3);
    const std::int64_t rows = shape(a)[ta ? 1 : 0];
    const std::int64_t inner = shape(a)[ta ? 0 : 1];
    const auto fits = [&](ValueId b) {
      return rank(b) == 2 && shape(b)[tb ? 1 : 0] == inner && product_fits(a, b) &&
             rows * shape(b)[tb ? 0 : 1] <= kMostElements;
    };
    ValueId b = one_in(2) ? pick_where(fits) : ValueId{};
    if (!b.valid()) {
      const std::int64_t columns = dim();
      if (!product_fits(a, x_)) return false;
      b = parameter(tb ? Shape{columns, inner} : Shape{inner, columns});
    }
    return add(build::matmul(graph_, a, b, {ta, tb}), degree(a) + degree(b));
  }

  bool bias() {
    const ValueId x = pick();
    if (rank(x) < 2) return false;
    const std::int64_t C = shape(x)[1];
    ValueId b =
        one_in(3) ? pick_where([&](ValueId id) { return shape(id) == Shape{C}; }) : ValueId{};
    if (!b.valid()) b = parameter({C});
    return add(build::add_bias(graph_, x, b), std::max(degree(x), degree(b)));
  }

  bool binary() {
    const ValueId a = pick();
    const ValueId b = one_in(4) ? parameter(shape(a))
                                : pick_where([&](ValueId id) { return shape(id) == shape(a); });
    switch (below(3)) {
      case 0:
        return add(build::add(graph_, a, b), std::max(degree(a), degree(b)));
      case 1:
        return add(build::sub(graph_, a, b), std::max(degree(a), degree(b)));
      default:
        return product_fits(a, b) && add(build::mul(graph_, a, b), degree(a) + degree(b));
    }
  }

  bool scale() {
    constexpr std::array kPowers = {0.5, -0.5, 1.0, -1.0, 2.0};
    const ValueId x = pick();
    const double factor =
        real_ && !one_in(4) ? draws_.uniform(-1.5, 1.5) : kPowers[below(kPowers.size())];
    return add(build::scale(graph_, x, factor), degree(x));
  }

  bool unary() {
    const ValueId x = pick();
    const std::uint64_t which = real_ ? below(3) : 0;
    if (which == 1) return add(build::tanh(graph_, x), 1);
    if (which == 2) return add(build::sigmoid(graph_, x), 1);
    return add(build::relu(graph_, x), degree(x));
  }

  bool reduce() {
    const ValueId x = pick();
    if (rank(x) == 0) return false;
    return add(build::reduce_sum(graph_, x, static_cast<std::int64_t>(below(rank(x)))), degree(x));
  }

  bool broadcast() {
    const ValueId x = pick();
    const std::int64_t size = dim();
    if (rank(x) >= 3 || shape(x).elements() * size > kMostElements) return false;
    const auto axis = static_cast<std::int64_t>(below(rank(x) + 1));
    return add(build::broadcast(graph_, x, axis, size), degree(x));
  }

  bool view() {
    const ValueId x = pick();
    const std::int64_t elements = shape(x).elements();
    switch (below(3)) {
      case 0:
        return add(graph_.reshape(x, {elements}), degree(x));
      case 1:
        return rank(x) == 2 && add(graph_.reshape(x, {shape(x)[1], shape(x)[0]}), degree(x));
      default:
        return rank(x) > 0 &&
               add(graph_.reshape(x, {shape(x)[0], elements / shape(x)[0]}), degree(x));
    }
  }

  bool constant() {
    const ValueId like = pick();
    // A number of f32, so that its elements are equal beyond doubt.
    const double value = real_ ? static_cast<float>(draws_.uniform(-1.0, 1.0)) : 0.5F;
    return add(build::fill(graph_, graph_.type(like), value), 1);
  }

  // The sum of a few scalars made from values that nobody has read, and one that has a parameter.
  void append_loss() {
    graph_.enter(Phase::loss);
    std::vector<bool> is_read(graph_.values().size());
    for (const Op& op : graph_.ops()) {
      for (const ValueId id : op.inputs) is_read[at(graph_.source(id))] = true;
    }
    std::vector<ValueId> heads = {graph_.ops()[0].outputs[0]};
    for (const ValueId id : pool_) {
      if (!is_read[at(graph_.source(id))] && !is_constant(id) && heads.size() < 5) {
        heads.push_back(id);
      }
    }
    ValueId loss;
    for (const ValueId head : heads) {
      const ValueId term = scalar_of(head);
      loss = loss.valid() ? build::add(graph_, loss, term) : term;
    }
    loss_ = loss;
    graph_.keep(loss, "loss");
  }

  bool is_constant(ValueId id) const {
    const std::int32_t maker = graph_.value(id).producer;
    return maker >= 0 && graph_.ops()[static_cast<std::size_t>(maker)].kind == OpKind::Fill;
  }

  ValueId scalar_of(ValueId head) {
    if (real_ && rank(head) == 2 && shape(head)[0] == shape(labels_)[0] && shape(head)[1] >= 2) {
      take_labels_below(shape(head)[1]);
      const auto [loss, probabilities] = build::softmax_cross_entropy(graph_, head, labels_);
      readable_later_.push_back(probabilities);
      return loss;
    }
    const auto elements = static_cast<double>(shape(head).elements());
    while (rank(head) > 0) head = build::reduce_sum(graph_, head, 0);
    return build::scale(graph_, head, real_ ? 1.0 / elements : (one_in(2) ? 0.5 : 0.25));
  }

  void take_labels_below(std::int64_t classes) {
    classes_ = has_labels_ ? std::min(classes_, classes) : classes;
    has_labels_ = true;
  }

  // Parameters that the loss depends on, with their gradients.
  void append_backward() {
    std::vector<bool> reaches(graph_.values().size());
    reaches[at(loss_)] = true;
    for (std::size_t i = graph_.ops().size(); i-- > 0;) {
      const Op& op = graph_.ops()[i];
      if (std::none_of(op.outputs.begin(), op.outputs.end(),
                       [&](ValueId id) { return reaches[at(id)]; })) {
        continue;
      }
      for (const ValueId id : op.inputs) reaches[at(graph_.source(id))] = true;
    }
    std::erase_if(parameters_, [&](ValueId id) { return !reaches[at(id)]; });
    graph_.enter(Phase::backward);
    gradients_ = add_backward(graph_, loss_, parameters_);
    for (const ValueId id : gradients_) readable_later_.push_back(id);
    pool_.insert(pool_.end(), readable_later_.begin(), readable_later_.end());
  }

  // Ops that nothing flows back through.
  void append_readers(const std::vector<ValueId>& readable) {
    for (std::uint64_t count = 1 + below(3); count > 0; --count) {
      const ValueId id = readable[below(readable.size())];
      const bool matrix = rank(id) == 2;
      ValueId made = build::scale(graph_, id, -0.5);
      if (matrix && one_in(2)) made = graph_.apply1(OpKind::Argmax, {id});
      if (matrix && shape(id)[0] == shape(labels_)[0] && one_in(2)) {
        made = build::correct_count(graph_, id, labels_);
      }
      if (one_in(4)) made = graph_.apply1(OpKind::ReluGrad, {id, id});
      if (real_ && one_in(4)) made = graph_.apply1(OpKind::TanhGrad, {id, id});
      if (real_ && one_in(4)) made = graph_.apply1(OpKind::SigmoidGrad, {id, id});
      keepable_.push_back(made);
    }
  }

  // Every parameter once, some twice; the last update counts the step.
  void append_updates() {
    graph_.enter(Phase::update);
    rate_ = graph_.declare(Role::state, f32({}), std::string(kLearningRate));
    step_ = graph_.declare(Role::state, {Shape{}, DType::i32}, std::string(kStepCount));
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      order.insert(order.end(), one_in(4) ? 2 : 1, i);
    }
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i)]);
    updated_ = parameters_;
    for (std::size_t k = 0; k < order.size(); ++k) {
      ValueId& value = updated_[order[k]];
      value = append_update(value, gradients_[order[k]], k, k + 1 == order.size());
    }
  }

  ValueId append_update(ValueId value, ValueId gradient, std::size_t k, bool last) {
    std::vector<ValueId> inputs = {value, gradient};
    const auto add_state = [&](std::string_view what) {
      inputs.push_back(
          graph_.declare(Role::state, graph_.type(value), fmt::format("update{}.{}", k, what)));
    };
    const std::uint64_t which = below(real_ ? 3 : 2);
    if (which == 1) add_state("velocity");
    if (which == 2) {
      add_state("m");
      add_state("v");
    }
    inputs.push_back(rate_);
    if (last || which == 2) inputs.push_back(step_);
    switch (which) {
      case 0:
        return graph_.apply(OpKind::SgdUpdate, inputs, SgdAttrs{last})[0];
      case 1:
        return graph_.apply(OpKind::MomentumUpdate, inputs,
                            MomentumAttrs{real_ ? 0.9 : 0.5, last})[0];
      default:
        // Epsilon keeps the slope of the update finite where a gradient crosses zero.
        return graph_.apply(OpKind::AdamUpdate, inputs, AdamAttrs{0.9, 0.99, 1e-2, last})[0];
    }
  }

  void keep_some(const std::vector<ValueId>& readable) {
    for (std::uint64_t count = 2 + below(4); count > 0; --count) {
      keepable_.push_back(readable[below(readable.size())]);
    }
    for (const ValueId id : keepable_) {
      if (!graph_.value(id).kept) graph_.keep(id, fmt::format("kept{}", id.index));
    }
  }

  bool real_;
  Philox draws_;
  RandomProgram program_;
  Graph graph_;
  ValueId x_, labels_, loss_, rate_, step_;
  ValueId hub_;  // picked by the next hub_uses_ ops
  int hub_uses_ = 0;
  std::vector<ValueId> pool_;            // floating values that a next op may read
  std::vector<int> degrees_;             // per value, as a polynomial in what is declared; 0: one
  std::vector<ValueId> readable_later_;  // join the pool behind the backward ops
  std::vector<ValueId> parameters_;      // those with a gradient, once there are gradients
  std::vector<ValueId> gradients_, updated_;
  std::vector<ValueId> keepable_;
  std::int64_t classes_ = 3;
  bool has_labels_ = false;
};

double dyadic_element(Philox& draws, const Value& value) {
  if (value.name == kLearningRate) return std::ldexp(1.0, -1 - static_cast<int>(draws.below(3)));
  const double units = static_cast<double>(draws.below(3)) - 1.0;  // -1, 0 or 1
  return value.role == Role::input ? units : 0.5 * units;
}

double real_element(Philox& draws, const Value& value) {
  const auto in = [&](double low, double high) {
    return static_cast<double>(static_cast<float>(draws.uniform(low, high)));
  };
  if (value.name == kLearningRate) return in(0.01, 0.2);
  if (value.name.ends_with(".v")) return in(0.0, 0.5);  // a mean of squares
  return value.role == Role::state ? in(-0.1, 0.1) : in(-1.0, 1.0);
}

}  // namespace

RandomProgram make_program(Contents contents, std::uint64_t seed, std::uint64_t attempt) {
  return Maker(contents, seed, attempt).run();
}

std::vector<double> elements_of(const RandomProgram& program, ValueId id, std::uint64_t step) {
  const Value& value = program.graph.value(id);
  Philox draws(program.seed, static_cast<std::uint64_t>(id.index) << 32 | (step + 1) << 16);
  std::vector<double> elements(static_cast<std::size_t>(value.type.shape.elements()));
  for (double& element : elements) {
    if (value.type.dtype == DType::i32) {
      const std::int64_t bound = value.role == Role::input ? program.classes : 4;  // else: a count
      element = static_cast<double>(draws.below(static_cast<std::uint64_t>(bound)));
    } else {
      element = program.contents == Contents::dyadic ? dyadic_element(draws, value)
                                                     : real_element(draws, value);
    }
  }
  return elements;
}

std::string describe(const RandomProgram& program) {
  return fmt::format("STEPSCOPE_RANDOM_SEED={} ({}, {} passes)\n{}", program.seed,
                     program.contents == Contents::dyadic ? "dyadic" : "real",
                     program.with_passes ? "with" : "without", to_text(program.graph));
}

}  // namespace stepscope::test
