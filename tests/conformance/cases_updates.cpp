// Cases of the updates.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tests/conformance/op_cases.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kRate = 0.1;

std::span<const Shape> parameter_shapes() {
  static const std::array<Shape, 7> shapes = {Shape{1},     Shape{3},     Shape{10},      Shape{65},
                                              Shape{7, 17}, Shape{64, 2}, Shape{784, 128}};
  return shapes;
}

Operand rate() { return f32(Shape{}, constant(kRate)); }
Operand step(double finished) { return i32(Shape{}, constant(finished)); }
SpecialCase::Values vector_of(std::vector<double> elements) {
  const auto size = static_cast<std::int64_t>(elements.size());
  return {{{size}, DType::f32}, std::move(elements)};
}
SpecialCase::Values scalar(double value, DType dtype = DType::f32) {
  return {{Shape{}, dtype}, {value}};
}

std::string case_name(const Shape& shape, bool advance) {
  return shape_name(shape) + (advance ? "_advance" : "");
}

// Difference and product.
std::vector<double> sgd_bound(const Oracle& oracle, std::size_t output) {
  return each_element(oracle, output, [&](std::size_t i) {
    if (output == 1) return 0.0;  // the step
    return gamma(2) * (std::abs(oracle.in[0][i]) + std::abs(oracle.in[2][0] * oracle.in[1][i]));
  });
}

// mu, its product and the sum; then as SGD, with what the velocity is off.
std::vector<double> momentum_bound(const Oracle& oracle, std::size_t output) {
  const double mu = std::get<MomentumAttrs>(oracle.attrs).mu;
  const double learning_rate = std::abs(oracle.in[3][0]);
  return each_element(oracle, output, [&](std::size_t i) {
    if (output == 2) return 0.0;
    const double velocity_off =
        gamma(3) * (std::abs(mu * oracle.in[2][i]) + std::abs(oracle.in[1][i]));
    if (output == 1) return velocity_off;
    return learning_rate * velocity_off +
           gamma(2) * (std::abs(oracle.in[0][i]) + learning_rate * std::abs(oracle.out[1][i]));
  });
}

// The moments are sums of two products, of two and of three factors, one of them a rounded
// constant. The corrections 1 - beta^t are taken in double and rounded: in f32 they would cancel.
std::vector<double> adam_bound(const Oracle& oracle, std::size_t output) {
  const AdamAttrs& settings = std::get<AdamAttrs>(oracle.attrs);
  const double t = oracle.in[5][0] + 1.0;
  const double correction1 = 1.0 - std::pow(settings.beta1, t);
  const double correction2 = 1.0 - std::pow(settings.beta2, t);
  return each_element(oracle, output, [&](std::size_t i) {
    if (output == 3) return 0.0;
    const double g = oracle.in[1][i];
    const double m_off = gamma(3) * (std::abs(settings.beta1 * oracle.in[2][i]) +
                                     std::abs((1.0 - settings.beta1) * g));
    if (output == 1) return m_off;
    if (output == 2) return gamma(4) * oracle.out[2][i];  // both terms are positive
    const double root = std::sqrt(oracle.out[2][i] / correction2) + settings.epsilon;
    const double change = std::abs(oracle.in[4][0] * oracle.out[1][i] / correction1 / root);
    // Root: half of v's four roundings, of correction and quotient, then its own, epsilon and the
    // sum: below seven. Change: rate, correction, two quotients, a product beside.
    const double change_off =
        std::abs(oracle.in[4][0]) / correction1 / root * m_off + gamma(12) * change;
    return change_off + gamma(1) * (std::abs(oracle.out[0][i]) + change_off);
  });
}

}  // namespace

OpCases cases_of_SgdUpdate() {
  OpCases table{.bound = sgd_bound, .cases = {}, .specials = {}};
  for (const Shape& shape : parameter_shapes()) {
    for (const bool advance : {false, true}) {
      OpCase made{case_name(shape, advance), SgdAttrs{advance}, {f32(shape), f32(shape), rate()}};
      if (advance) made.in.push_back(step(41));
      table.cases.push_back(std::move(made));
    }
  }
  table.specials = {
      {"spoiled",
       SgdAttrs{},
       {vector_of({1, kInf, kInf, kNan}), vector_of({kNan, kInf, 1, 1}), scalar(1)},
       {{kNan, kNan, kInf, kNan}}},
      {"rate_zero",
       SgdAttrs{},
       {vector_of({1.5, 2}), vector_of({7, kInf}), scalar(0)},
       {{1.5, kNan}}},
      {"counts_the_step",
       SgdAttrs{true},
       {vector_of({1}), vector_of({0}), scalar(1), scalar(7, DType::i32)},
       {{1}, {8}}},
  };
  return table;
}

OpCases cases_of_MomentumUpdate() {
  OpCases table{.bound = momentum_bound, .cases = {}, .specials = {}};
  for (const Shape& shape : parameter_shapes()) {
    for (const bool advance : {false, true}) {
      OpCase made{case_name(shape, advance),
                  MomentumAttrs{0.9, advance},
                  {f32(shape), f32(shape), f32(shape), rate()}};
      if (advance) made.in.push_back(step(0));
      table.cases.push_back(std::move(made));
    }
  }
  table.specials = {
      {"spoiled",
       MomentumAttrs{0.5, false},
       {vector_of({1, 1, 1}), vector_of({kNan, kInf, 0}), vector_of({0, 0, kNan}), scalar(1)},
       {{kNan, -kInf, kNan}, {kNan, kInf, kNan}}},
      {"without_memory",
       MomentumAttrs{0.0, true},
       {vector_of({1}), vector_of({0.5}), vector_of({8}), scalar(1), scalar(2, DType::i32)},
       {{0.5}, {0.5}, {3}}},
  };
  return table;
}

OpCases cases_of_AdamUpdate() {
  OpCases table{.bound = adam_bound, .cases = {}, .specials = {}};
  for (const Shape& shape : parameter_shapes()) {
    for (const bool advance : {false, true}) {
      for (const double finished : {0.0, 4.0, 1000.0}) {
        table.cases.push_back({fmt::format("{}_step{}", case_name(shape, advance), finished),
                               AdamAttrs{.advance_step = advance},
                               {f32(shape), f32(shape), f32(shape), f32(shape, uniform(0.0, 1.0)),
                                rate(), step(finished)}});
      }
    }
  }
  table.specials = {
      {"nothing_to_learn",
       AdamAttrs{},
       {vector_of({1.5}), vector_of({0}), vector_of({0}), vector_of({0}), scalar(1),
        scalar(0, DType::i32)},
       {{1.5}, {0}, {0}}},
      {"spoiled",
       AdamAttrs{},
       {vector_of({1, 1}), vector_of({kNan, kInf}), vector_of({0, 0}), vector_of({0, 0}), scalar(1),
        scalar(0, DType::i32)},
       {{kNan, kNan}, {kNan, kInf}, {kNan, kInf}}},
      // The first step goes the whole rate against the sign of the gradient, whatever its size.
      {"first_step",
       AdamAttrs{.epsilon = 1e-30, .advance_step = true},
       {vector_of({4, 4}), vector_of({1024, -0.5}), vector_of({0, 0}), vector_of({0, 0}), scalar(1),
        scalar(0, DType::i32)},
       {{3, 5}, {102.4, -0.05}, {1048.576, 0.00025}, {1}}},
  };
  return table;
}

}  // namespace stepscope::conformance
