// Cases of PointwiseChain.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tests/conformance/activation_bounds.h"
#include "tests/conformance/op_cases.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr auto kAlone = ChainOperands::current;
constexpr auto kFirst = ChainOperands::current_first;
constexpr auto kSecond = ChainOperands::current_second;
constexpr auto kBoth = ChainOperands::both;

ChainAttrs chain(std::initializer_list<ChainStep> steps) {
  ChainAttrs attrs;
  for (const ChainStep& step : steps) attrs.steps[static_cast<std::size_t>(attrs.count++)] = step;
  return attrs;
}

std::size_t inputs_of(const ChainAttrs& attrs) {
  std::size_t inputs = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(attrs.count); ++i) {
    const ChainOperands operands = attrs.steps[i].operands;
    if (operands == kFirst || operands == kSecond) ++inputs;
  }
  return inputs;
}

// A value that may be off: each step adds its own rounding to what it makes of the errors it got.
struct Inexact {
  double value = 0.0;
  double off = 0.0;
  double size() const { return std::abs(value) + off; }  // of what was computed, at most
};

Inexact rounded(double value, double off, std::int64_t roundings = 1) {
  return {value, off + gamma(roundings) * (std::abs(value) + off)};
}

Inexact product(Inexact a, Inexact b) {
  return rounded(a.value * b.value,
                 std::abs(a.value) * b.off + std::abs(b.value) * a.off + a.off * b.off);
}

Inexact activated(Activation activation, double y, Inexact x) {
  return {y, activation_error(activation, y, x.off)};
}

// Where the sign of y is in doubt, so is whether dy comes through.
Inexact relu_grad(Inexact dy, Inexact y) {
  const double value = y.value <= 0.0 ? 0.0 : dy.value;
  if (std::abs(y.value) < y.off) return {value, dy.size()};
  return {value, y.value <= 0.0 ? 0.0 : dy.off};
}

// dy f(y) with f = 1 - y^2 or y - y^2; `terms` is the sum of the sizes of f's terms at most, `off`
// how far f may be off: as slope_bound() of the plain ops, and what was off before.
Inexact sloped(Inexact dy, double f, double off, double terms) {
  return {dy.value * f,
          dy.off * std::abs(f) + dy.size() * off + gamma(3) * dy.size() * (terms + off)};
}

Inexact after(const ChainStep& step, Inexact a, Inexact b) {
  const double y = b.value;
  switch (step.kind) {
    case OpKind::Add:
      return rounded(a.value + b.value, a.off + b.off);
    case OpKind::Sub:
      return rounded(a.value - b.value, a.off + b.off);
    case OpKind::Mul:
      return product(a, b);
    case OpKind::Scale:
      return product(a, {step.factor, kUnitRoundoff * std::abs(step.factor)});
    case OpKind::Relu:
      return {std::max(a.value, 0.0), a.off};
    case OpKind::Tanh:
      return activated(Activation::tanh, std::tanh(a.value), a);
    case OpKind::Sigmoid:
      return activated(Activation::sigmoid, 1.0 / (1.0 + std::exp(-a.value)), a);
    case OpKind::ReluGrad:
      return relu_grad(a, b);
    case OpKind::TanhGrad:
      return sloped(a, 1.0 - y * y, b.off * (2.0 * std::abs(y) + b.off), 1.0 + y * y);
    default:  // SigmoidGrad
      return sloped(a, y - y * y, b.off * (1.0 + 2.0 * std::abs(y) + b.off), std::abs(y) + y * y);
  }
}

std::vector<double> chain_bound(const Oracle& oracle, std::size_t output) {
  const auto& attrs = std::get<ChainAttrs>(oracle.attrs);
  return each_element(oracle, output, [&](std::size_t i) {
    Inexact current{oracle.in[0][i], 0.0};
    std::size_t next = 1;
    for (std::size_t k = 0; k < static_cast<std::size_t>(attrs.count); ++k) {
      const ChainStep& step = attrs.steps[k];
      const bool takes_input = step.operands == kFirst || step.operands == kSecond;
      const Inexact other = takes_input ? Inexact{oracle.in[next++][i], 0.0} : current;
      current =
          step.operands == kSecond ? after(step, other, current) : after(step, current, other);
    }
    return current.off;
  });
}

struct Chain {
  const char* name;
  ChainAttrs attrs;
};

// As many steps as there may be, of every kind.
ChainAttrs longest() {
  using enum OpKind;
  return chain({{Add, kFirst},
                {Sub, kSecond},
                {Mul, kFirst},
                {Scale, kAlone, -0.7},
                {Tanh},
                {TanhGrad, kSecond},
                {Sigmoid},
                {SigmoidGrad, kFirst},
                {Sub, kFirst},
                {ReluGrad, kFirst},
                {Add, kBoth},
                {Relu}});
}

// As many inputs as there may be.
ChainAttrs longest_of_inputs() {
  using enum OpKind;
  return chain({{Add, kFirst},
                {Add, kSecond},
                {Sub, kFirst},
                {Sub, kSecond},
                {Add, kFirst},
                {Mul, kSecond},
                {Mul, kFirst},
                {ReluGrad, kSecond},
                {ReluGrad, kFirst},
                {TanhGrad, kFirst},
                {Add, kFirst},
                {Sub, kSecond}});
}

std::vector<Chain> chains() {
  using enum OpKind;
  return {
      {"relu", chain({{Relu}})},
      {"scaled_sum", chain({{Add, kFirst}, {Scale, kAlone, 0.1}})},
      {"difference_from", chain({{Sub, kFirst}, {Relu}})},
      {"difference_to", chain({{Sub, kSecond}, {Tanh}})},
      {"square", chain({{Mul, kBoth}, {Add, kFirst}})},
      {"twice", chain({{Add, kBoth}, {Sub, kBoth}, {Add, kFirst}})},
      {"relu_grad_as_slope", chain({{Scale, kAlone, -3.0}, {ReluGrad, kFirst}})},
      {"relu_grad_as_value", chain({{Sub, kFirst}, {ReluGrad, kSecond}})},
      {"relu_grad_of_itself", chain({{Scale, kAlone, 0.5}, {ReluGrad, kBoth}})},
      {"tanh_grad_as_slope", chain({{Add, kFirst}, {TanhGrad, kFirst}})},
      {"tanh_grad_as_value", chain({{Tanh}, {TanhGrad, kSecond}})},
      {"tanh_grad_of_itself", chain({{TanhGrad, kBoth}})},
      {"sigmoid_grad_as_slope", chain({{Mul, kFirst}, {SigmoidGrad, kFirst}})},
      {"sigmoid_grad_as_value", chain({{Sigmoid}, {SigmoidGrad, kSecond}})},
      {"swish", chain({{Sigmoid}, {Mul, kSecond}, {Scale, kAlone, 1.0 / 3.0}})},
      {"squares", chain({{Mul, kBoth}, {Mul, kBoth}, {Scale, kAlone, 0.001}})},
      {"all_steps", longest()},
      {"most_inputs", longest_of_inputs()},
  };
}

// Columns of a table: the elements of each input, then of the output.
SpecialCase special(std::string name, const ChainAttrs& attrs, std::vector<std::vector<double>> in,
                    std::vector<double> out) {
  SpecialCase made{std::move(name), attrs, {}, {std::move(out)}, Agreement::equal_bits};
  for (std::vector<double>& elements : in) {
    const auto size = static_cast<std::int64_t>(elements.size());
    made.in.push_back({{{size}, DType::f32}, std::move(elements), nullptr});
  }
  return made;
}

}  // namespace

OpCases cases_of_PointwiseChain() {
  OpCases table{.bound = chain_bound, .cases = {}, .specials = {}};
  for (const Chain& each : chains()) {
    for (const Shape& shape : pointwise_shapes()) {
      table.cases.push_back({fmt::format("{}_{}", each.name, shape_name(shape)), each.attrs,
                             std::vector<Operand>(inputs_of(each.attrs), f32(shape))});
    }
  }
  using enum OpKind;
  table.specials = {
      special("relu", chain({{Relu}}), {{0.0, -0.0, kNan, kInf, -kInf, -1.0}},
              {0.0, 0.0, kNan, kInf, 0.0, 0.0}),
      special("order_of_operands", chain({{Sub, kFirst}, {Sub, kSecond}}),
              {{10, 1, kInf, kNan}, {3, 2, kInf, 0}, {1, 5, 0, 0}}, {-6, 6, kNan, kNan}),
      special("relu_grad_selects", chain({{Scale, kAlone, 2.0}, {ReluGrad, kFirst}}),
              {{kNan, kNan, 3, 3, 3, kInf}, {1, 0, kNan, -0.0, kInf, -1}}, {kNan, 0, 6, 0, 6, 0}),
      special("relu_grad_by_what_was_computed", chain({{Sub, kFirst}, {ReluGrad, kSecond}}),
              {{1, 2, 3, kNan}, {1, 1, 4, 0}, {5, 6, kNan, 8}}, {0, 6, 0, 8}),
      special("both_operands", chain({{Mul, kBoth}, {Sub, kBoth}}), {{2, -3, kInf, kNan, -0.0}},
              {0, 0, kNan, kNan, 0}),
      special("ends", chain({{Tanh}, {Scale, kAlone, -1.0}, {Sigmoid}, {Sub, kBoth}}),
              {{0, kInf, -kInf, kNan}}, {0, 0, 0, kNan}),
      special("scale_of_zero", chain({{Scale, kAlone, -1.0}}), {{0.0, -0.0, 1, kNan}},
              {-0.0, 0.0, -1, kNan}),
      special("grads_of_saturated", chain({{Tanh}, {TanhGrad, kSecond}}),
              {{kInf, -kInf, 0, kNan}, {5, 5, 5, 5}}, {0, 0, 5, kNan}),
  };
  return table;
}

}  // namespace stepscope::conformance
