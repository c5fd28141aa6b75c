// Differences, and what rounding makes of them.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/autodiff/backward.h"
#include "ops/ir/build.h"
#include "ops/ir/copy.h"
#include "ops/ir/op_def.h"
#include "ops/ir/verify.h"
#include "tests/conformance/op_graph.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr double kUnitRoundoff64 = 0x1p-53;
// Of the central differences: their truncation is near step^2 = 1e-6 of the gradient, and what the
// rounding of a loss of up to 784 x 4096 products adds is worth no more. Below the distance that
// away_from_zero() keeps from a kink.
constexpr double kStep = 0x1p-10;

bool has_floating(const std::vector<TensorType>& types) {
  return std::any_of(types.begin(), types.end(),
                     [](const TensorType& type) { return is_floating(type.dtype); });
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double dot_of_sizes(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] * b[i]);
  return sum;
}

class Experiment {
 public:
  Experiment(const OpEntry& op, const OpCase& op_case)
      : op_(op), op_case_(op_case), inputs_(draw_inputs(op, op_case)) {
    LossGraph made = loss_of(op, op_case, op.table.gradient_through);
    Graph& graph = made.graph;
    graph.keep(made.loss, "loss");
    graph.enter(Phase::backward);
    const std::vector<ValueId> gradients = add_backward(graph, made.loss, made.in);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      wanted_.push_back(made.index[i]);
      const bool named = !graph.value(gradients[i]).name.empty();  // two inputs may share one
      graph.keep(gradients[i], named ? std::string() : fmt::format("gradient{}", wanted_.back()));
      gradient_names_.push_back(graph.value(gradients[i]).name);
    }
    verify(graph, "gradient test");
    graph_ = with_dtype(graph, DType::f64);
    draw_weights();
  }

  // Per wanted input; from all modes, which must agree bit for bit.
  Elements gradients(Findings& found) {
    Elements first;
    for (const Mode mode : {Mode::graph, Mode::eager, Mode::planned}) {
      run_ = std::make_unique<GraphRun>(oracle_backend(), mode, graph_);
      write_all();
      run_->step();
      Elements read;
      for (const std::string& name : gradient_names_) {
        read.push_back(doubles_of(run_->read(name), DType::f64));
      }
      if (first.empty()) first = read;
      if (read != first) {
        found.failures.push_back(
            fmt::format("mode {}: other gradients than in mode graph", stepscope::name(mode)));
      }
    }
    return first;
  }

  const std::vector<std::size_t>& wanted() const { return wanted_; }
  std::size_t elements(std::size_t input) const { return inputs_[input].size(); }

  // d loss along `direction` of one input.
  double quotient(std::size_t input, const std::vector<double>& direction, double step) {
    return (loss_at(input, direction, step) - loss_at(input, direction, -step)) / (2.0 * step);
  }

  // How far rounding can move the loss: the op's bound, weighted, and that of the weighted sum. The
  // bounds are proportional to the unit roundoff.
  double loss_rounding() const {
    const OpSite site = site_of(op_, op_case_, DType::f64);
    const Elements outputs = oracle_outputs(op_, op_case_, inputs_);
    const Oracle seen{site.attrs, site.in, inputs_, outputs};
    double rounding = 0.0;
    for (const auto& [k, w] : weights_) {
      rounding += dot_of_sizes(w, op_.table.bound(seen, k)) / kUnitRoundoff;
      rounding += static_cast<double>(w.size() + 1) * dot_of_sizes(w, outputs[k]);
    }
    return rounding * kUnitRoundoff64;
  }

 private:
  void draw_weights() {
    Philox random(7);
    const OpSite site = site_of(op_, op_case_);
    for (std::size_t k = 0; k < site.out.size(); ++k) {
      if (!graph_.find(fmt::format("w{}", k))) continue;
      std::vector<double> w(static_cast<std::size_t>(site.out[k].shape.elements()));
      for (double& each : w) each = random.normal();
      weights_.emplace_back(k, std::move(w));
    }
  }

  void write_input(std::size_t i, const std::vector<double>& elements) {
    const std::string name = fmt::format("in{}", i);
    run_->write(name, bytes_of(elements, graph_.type(*graph_.find(name)).dtype));
  }

  void write_all() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) write_input(i, inputs_[i]);
    for (const auto& [k, w] : weights_) {
      run_->write(fmt::format("w{}", k), bytes_of(w, DType::f64));
    }
  }

  double loss_at(std::size_t input, const std::vector<double>& direction, double step) {
    std::vector<double> moved = inputs_[input];
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += step * direction[i];
    write_input(input, moved);
    run_->step();
    write_input(input, inputs_[input]);
    return doubles_of(run_->read("loss"), DType::f64).front();
  }

  const OpEntry& op_;
  const OpCase& op_case_;
  Elements inputs_;
  Graph graph_;
  std::vector<std::size_t> wanted_;
  std::vector<std::string> gradient_names_;
  std::vector<std::pair<std::size_t, std::vector<double>>> weights_;  // by output
  std::unique_ptr<GraphRun> run_;
};

// Random directions through all elements, then some elements alone.
std::vector<std::vector<double>> directions(std::size_t elements) {
  Philox random(11);
  std::vector<std::vector<double>> all(2, std::vector<double>(elements));
  for (std::vector<double>& direction : all) {
    for (double& each : direction) each = random.normal();
  }
  for (int i = 0; i < 2; ++i) {
    all.emplace_back(elements)[static_cast<std::size_t>(random.below(elements))] = 1.0;
  }
  return all;
}

// One input's gradient along some directions; `noise` is what rounding makes of a difference.
void check_input(Experiment& experiment, std::size_t input, const std::vector<double>& gradient,
                 double noise, Findings& found) {
  double widest = 0.0;
  double largest = 0.0;
  for (const std::vector<double>& direction : directions(experiment.elements(input))) {
    const double fine = experiment.quotient(input, direction, kStep);
    const double wide = experiment.quotient(input, direction, 2.0 * kStep);
    // Truncation falls with the square of the step: that of `fine` is a third of their distance.
    const double tolerance = noise + std::abs(wide - fine);
    const double slope = dot(gradient, direction);
    if (!(std::abs(slope - fine) <= tolerance)) {  // true for NaN
      found.failures.push_back(
          fmt::format("input {}: gradient along a direction is {:.9g}, differences give {:.9g}, "
                      "off by {:.3g} where {:.3g} is allowed",
                      input, slope, fine, std::abs(slope - fine), tolerance));
    }
    widest = std::max(widest, tolerance);
    largest = std::max(largest, dot_of_sizes(gradient, direction));
  }
  if (!(widest <= 1e-4 * largest + 1e-9)) {
    found.failures.push_back(
        fmt::format("input {}: the differences prove nothing, {:.3g} is allowed of {:.3g}", input,
                    widest, largest));
  }
}

}  // namespace

bool has_gradient(const OpEntry& op, const OpCase& op_case) {
  if (op_def(op.kind).vjp == nullptr || !op_case.differentiable) return false;
  const OpSite site = site_of(op, op_case);
  return has_floating(site.in) && has_floating(site.out);
}

LossGraph loss_of(const OpEntry& op, const OpCase& op_case, std::uint32_t through) {
  OpGraph made = make_op_graph(op, op_case);
  LossGraph result{std::move(made.graph), {}, {}, {}, {}};
  Graph& graph = result.graph;
  for (std::size_t i = 0; i < made.in.size(); ++i) {
    if (!is_floating(graph.type(made.in[i]).dtype)) continue;
    result.in.push_back(made.in[i]);
    result.index.push_back(i);
  }
  for (std::size_t k = 0; k < made.out.size(); ++k) {
    const TensorType type = graph.type(made.out[k]);
    if ((through >> k & 1U) == 0 || !is_floating(type.dtype)) continue;
    result.weighted.push_back(made.out[k]);
    const ValueId w = graph.declare(Role::input, type, fmt::format("w{}", k));
    const ValueId product =
        graph.reshape(build::mul(graph, made.out[k], w), {type.shape.elements()});
    const ValueId sum = build::reduce_sum(graph, product, 0);
    result.loss = result.loss.valid() ? build::add(graph, result.loss, sum) : sum;
  }
  return result;
}

Findings check_gradient(const OpEntry& op, const OpCase& op_case) {
  Findings found;
  Experiment experiment(op, op_case);
  const Elements gradients = experiment.gradients(found);
  const double noise = experiment.loss_rounding() / kStep;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    check_input(experiment, experiment.wanted()[i], gradients[i], noise, found);
  }
  return found;
}

}  // namespace stepscope::conformance
