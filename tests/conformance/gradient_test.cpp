// Gradient rules against central differences, in f64 on the reference backend, through autodiff and
// the executors: loss = sum(w .* op(inputs)) with random w, every floating input wanted.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>

#include "ops/autodiff/backward.h"
#include "ops/ir/build.h"
#include "ops/ir/copy.h"
#include "ops/ir/op_def.h"
#include "ops/ir/verify.h"
#include "tests/conformance/cells.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/op_graph.h"
#include "tests/conformance/tolerance.h"
#include "tests/support/errors.h"
#include "tests/support/tensor_bytes.h"

namespace stepscope::conformance {
namespace {

constexpr double kUnitRoundoff64 = 0x1p-53;
// Of the central differences: their truncation is near step^2 = 1e-6 of the gradient, and what the
// rounding of a loss of up to 784 x 4096 products adds is worth no more. Below the distance that
// away_from_zero() keeps from a kink.
constexpr double kStep = 0x1p-10;

struct Subject {
  const OpEntry* op = nullptr;
  const OpCase* op_case = nullptr;
};

bool has_floating(const std::vector<TensorType>& types) {
  return std::any_of(types.begin(), types.end(),
                     [](const TensorType& type) { return is_floating(type.dtype); });
}

bool has_gradient(const OpEntry& op, const OpCase& op_case) {
  if (op_def(op.kind).vjp == nullptr || !op_case.differentiable) return false;
  const OpSite site = site_of(op, op_case);
  return has_floating(site.in) && has_floating(site.out);
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const OpEntry& op : all_ops()) {
    for (const OpCase& op_case : op.table.cases) {
      if (has_gradient(op, op_case)) all.push_back({&op, &op_case});
    }
  }
  return all;
}

struct LossGraph {
  Graph graph;
  std::vector<ValueId> in;         // the floating inputs
  std::vector<std::size_t> index;  // per one of these: which input it is
  std::vector<ValueId> weighted;   // the outputs that reach the loss
  ValueId loss;
};

// `through`: bit k lets output k reach the loss.
LossGraph loss_of(const Subject& subject, std::uint32_t through) {
  OpGraph made = make_op_graph(*subject.op, *subject.op_case);
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
  explicit Experiment(const Subject& subject)
      : subject_(subject), inputs_(draw_inputs(*subject.op, *subject.op_case)) {
    LossGraph made = loss_of(subject, subject.op->table.gradient_through);
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
  Elements gradients() {
    Elements first;
    for (const Mode mode : {Mode::graph, Mode::eager, Mode::planned}) {
      run_ = std::make_unique<GraphRun>(backend("reference"), mode, graph_);
      write_all();
      run_->step();
      Elements read;
      for (const std::string& name : gradient_names_) {
        read.push_back(test::to_doubles(run_->read(name), DType::f64));
      }
      if (first.empty()) first = read;
      EXPECT_EQ(read, first) << name(mode);
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
    const OpSite site = site_of(*subject_.op, *subject_.op_case, DType::f64);
    const Elements outputs = oracle_outputs(*subject_.op, *subject_.op_case, inputs_);
    const Oracle seen{site.attrs, site.in, inputs_, outputs};
    double rounding = 0.0;
    for (const auto& [k, w] : weights_) {
      rounding += dot_of_sizes(w, subject_.op->table.bound(seen, k)) / kUnitRoundoff;
      rounding += static_cast<double>(w.size() + 1) * dot_of_sizes(w, outputs[k]);
    }
    return rounding * kUnitRoundoff64;
  }

 private:
  void draw_weights() {
    Philox random(7);
    const OpSite site = site_of(*subject_.op, *subject_.op_case);
    for (std::size_t k = 0; k < site.out.size(); ++k) {
      if (!graph_.find(fmt::format("w{}", k))) continue;
      std::vector<double> w(static_cast<std::size_t>(site.out[k].shape.elements()));
      for (double& each : w) each = random.normal();
      weights_.emplace_back(k, std::move(w));
    }
  }

  void write_input(std::size_t i, const std::vector<double>& elements) {
    const std::string name = fmt::format("in{}", i);
    run_->write(name, test::to_bytes(elements, graph_.type(*graph_.find(name)).dtype));
  }

  void write_all() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) write_input(i, inputs_[i]);
    for (const auto& [k, w] : weights_) {
      run_->write(fmt::format("w{}", k), test::to_bytes(w, DType::f64));
    }
  }

  double loss_at(std::size_t input, const std::vector<double>& direction, double step) {
    std::vector<double> moved = inputs_[input];
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += step * direction[i];
    write_input(input, moved);
    run_->step();
    write_input(input, inputs_[input]);
    return test::to_doubles(run_->read("loss"), DType::f64).front();
  }

  Subject subject_;
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

class GradientRule : public testing::TestWithParam<Subject> {};

TEST_P(GradientRule, MatchesCentralDifferences) {
  Experiment experiment(GetParam());
  const Elements gradients = experiment.gradients();
  const double noise = experiment.loss_rounding() / kStep;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const std::size_t input = experiment.wanted()[i];
    SCOPED_TRACE(fmt::format("input {}", input));
    double widest = 0.0;
    double largest = 0.0;
    for (const std::vector<double>& direction : directions(experiment.elements(input))) {
      const double fine = experiment.quotient(input, direction, kStep);
      const double wide = experiment.quotient(input, direction, 2.0 * kStep);
      // Truncation falls with the square of the step: that of `fine` is a third of their distance.
      const double tolerance = noise + std::abs(wide - fine);
      EXPECT_NEAR(dot(gradients[i], direction), fine, tolerance);
      widest = std::max(widest, tolerance);
      largest = std::max(largest, dot_of_sizes(gradients[i], direction));
    }
    EXPECT_LE(widest, 1e-4 * largest + 1e-9) << "the differences prove nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(All, GradientRule, testing::ValuesIn(subjects()), [](const auto& made) {
  return fmt::format("{}_{}", made.param.op->name, made.param.op_case->name);
});

// Ops without a rule say so by name, unless nothing floating comes out of them.
TEST(NoGradientRule, IsSaidByName) {
  for (const OpEntry& op : all_ops()) {
    if (op_def(op.kind).vjp != nullptr) continue;
    SCOPED_TRACE(op.name);
    const Subject subject{&op, &op.table.cases.front()};
    LossGraph made = loss_of(subject, ~0U);
    if (!made.loss.valid()) {
      EXPECT_FALSE(has_floating(site_of(op, *subject.op_case).out));
      continue;
    }
    EXPECT_EQ(test::error_of([&] { add_backward(made.graph, made.loss, made.in); }),
              fmt::format("unsupported: autodiff: {} has no gradient rule", op.name));
  }
}

TEST(NoGradientRule, ThroughProbabilities) {
  const OpEntry& op = entry_of(OpKind::SoftmaxCrossEntropy);
  LossGraph made = loss_of({&op, &op.table.cases.front()}, ~op.table.gradient_through);
  EXPECT_EQ(test::error_of([&] { add_backward(made.graph, made.loss, made.in); }),
            "unsupported: SoftmaxCrossEntropy: no gradient rule through the probabilities, only "
            "through the loss");
}

}  // namespace
}  // namespace stepscope::conformance
