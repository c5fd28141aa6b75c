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

// Where the operands of one element lie: kinds of operands follow each other, tensor by tensor, as
// do kinds of results.
struct Place {
  std::size_t tensors, result, tensor;

  Place(std::int64_t count, std::size_t output)
      : tensors(static_cast<std::size_t>(count)),
        result(output / tensors),
        tensor(output % tensors) {}
  const std::vector<double>& in(const Oracle& oracle, std::size_t kind) const {
    return oracle.in[kind * tensors + tensor];
  }
  const std::vector<double>& out(const Oracle& oracle, std::size_t kind) const {
    return oracle.out[kind * tensors + tensor];
  }
};

// Of the step count, which is exact.
std::vector<double> no_error(const Oracle& oracle, std::size_t output) {
  return each_element(oracle, output, [](std::size_t) { return 0.0; });
}

// Difference and product.
std::vector<double> sgd_bound(const Oracle& oracle, std::size_t output) {
  const auto& settings = std::get<SgdAttrs>(oracle.attrs);
  const Place at(settings.tensors, output);
  if (at.result == 1) return no_error(oracle, output);
  const double rate = settings.scaled_gradient ? 1.0 : oracle.in[2 * at.tensors][0];
  return each_element(oracle, output, [&](std::size_t i) {
    return gamma(2) * (std::abs(at.in(oracle, 0)[i]) + std::abs(rate * at.in(oracle, 1)[i]));
  });
}

// mu, its product and the sum; then as SGD, with what the velocity is off.
std::vector<double> momentum_bound(const Oracle& oracle, std::size_t output) {
  const auto& settings = std::get<MomentumAttrs>(oracle.attrs);
  const Place at(settings.tensors, output);
  if (at.result == 2) return no_error(oracle, output);
  const double rate = std::abs(oracle.in[3 * at.tensors][0]);
  return each_element(oracle, output, [&](std::size_t i) {
    const double velocity_off =
        gamma(3) * (std::abs(settings.mu * at.in(oracle, 2)[i]) + std::abs(at.in(oracle, 1)[i]));
    if (at.result == 1) return velocity_off;
    return rate * velocity_off +
           gamma(2) * (std::abs(at.in(oracle, 0)[i]) + rate * std::abs(at.out(oracle, 1)[i]));
  });
}

// The moments are sums of two products, of two and of three factors, one of them a rounded
// constant. The corrections 1 - beta^t are taken in double and rounded: in f32 they would cancel.
std::vector<double> adam_bound(const Oracle& oracle, std::size_t output) {
  const auto& settings = std::get<AdamAttrs>(oracle.attrs);
  const Place at(settings.tensors, output);
  if (at.result == 3) return no_error(oracle, output);
  const double rate = std::abs(oracle.in[4 * at.tensors][0]);
  const double t = oracle.in[4 * at.tensors + 1][0] + 1.0;
  const double correction1 = 1.0 - std::pow(settings.beta1, t);
  const double correction2 = 1.0 - std::pow(settings.beta2, t);
  return each_element(oracle, output, [&](std::size_t i) {
    const double m_off = gamma(3) * (std::abs(settings.beta1 * at.in(oracle, 2)[i]) +
                                     std::abs((1.0 - settings.beta1) * at.in(oracle, 1)[i]));
    if (at.result == 1) return m_off;
    const double m = at.out(oracle, 1)[i];
    const double v = at.out(oracle, 2)[i];
    if (at.result == 2) return gamma(4) * v;  // both terms are positive
    const double root = std::sqrt(v / correction2) + settings.epsilon;
    const double change = std::abs(rate * m / correction1 / root);
    // Root: half of v's four roundings, of correction and quotient, then its own, epsilon and the
    // sum: below seven. Change: rate, correction, two quotients, a product beside.
    const double change_off = rate / correction1 / root * m_off + gamma(12) * change;
    return change_off + gamma(1) * (std::abs(at.out(oracle, 0)[i]) + change_off);
  });
}

// Several parameters at once: `kinds` operands of each, then the rate and the step count where
// there are such.
struct Several {
  std::string name;
  std::vector<Shape> shapes;
};
std::vector<Several> several(std::size_t most) {
  std::vector<Several> all = {
      {"two", {Shape{7, 17}, Shape{17}}},
      {"four", {Shape{3}, Shape{2, 3, 5, 7}, Shape{1}, Shape{64, 65}}},
      {"most", {}},
  };
  for (std::size_t i = 0; i < most; ++i) {
    all.back().shapes.push_back(Shape{static_cast<std::int64_t>(1 + 5 * i)});
  }
  return all;
}

std::vector<Operand> operands(const Several& parameters, std::vector<Draw> kinds) {
  std::vector<Operand> in;
  for (const Draw& draw : kinds) {
    for (const Shape& shape : parameters.shapes) in.push_back(f32(shape, draw));
  }
  return in;
}

template <class UpdateAttrs>
UpdateAttrs of_several(UpdateAttrs attrs, const Several& parameters) {
  attrs.tensors = static_cast<std::int64_t>(parameters.shapes.size());
  return attrs;
}

std::vector<SpecialCase> sgd_specials() {
  return {
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
      {"each_its_own",
       SgdAttrs{.advance_step = true, .tensors = 2},
       {vector_of({1, 2}), vector_of({10}), vector_of({1, kNan}), vector_of({4}), scalar(0.5),
        scalar(7, DType::i32)},
       {{0.5, kNan}, {8}, {8}}},
      {"scaled_gradient",
       SgdAttrs{.tensors = 2, .scaled_gradient = true},
       {vector_of({1}), vector_of({10, 20}), vector_of({3}), vector_of({4, kInf})},
       {{-2}, {6, -kInf}}},
      {"scaled_gradient_counts_the_step",
       SgdAttrs{.advance_step = true, .scaled_gradient = true},
       {vector_of({1}), vector_of({3}), scalar(0, DType::i32)},
       {{-2}, {1}}},
  };
}

std::vector<SpecialCase> adam_specials() {
  return {
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
      {"each_its_own",
       AdamAttrs{.epsilon = 1e-30, .advance_step = true, .tensors = 2},
       {vector_of({4}), vector_of({4, 1}), vector_of({1024}), vector_of({-0.5, kNan}),
        vector_of({0}), vector_of({0, 0}), vector_of({0}), vector_of({0, 0}), scalar(1),
        scalar(0, DType::i32)},
       {{3}, {5, kNan}, {102.4}, {-0.05, kNan}, {1048.576}, {0.00025, kNan}, {1}}},
  };
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
  for (const Several& parameters : several(20)) {
    for (const bool scaled : {false, true}) {
      for (const bool advance : {false, true}) {
        OpCase made{
            fmt::format("{}{}{}", parameters.name, scaled ? "_scaled" : "",
                        advance ? "_advance" : ""),
            of_several(SgdAttrs{.advance_step = advance, .scaled_gradient = scaled}, parameters),
            operands(parameters, {normal(), normal()})};
        if (!scaled) made.in.push_back(rate());
        if (advance) made.in.push_back(step(41));
        table.cases.push_back(std::move(made));
      }
    }
  }
  table.cases.push_back({"65_scaled", SgdAttrs{.scaled_gradient = true}, {f32({65}), f32({65})}});
  table.specials = sgd_specials();
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
  for (const Several& parameters : several(11)) {
    for (const bool advance : {false, true}) {
      OpCase made{parameters.name + (advance ? "_advance" : ""),
                  of_several(MomentumAttrs{.advance_step = advance}, parameters),
                  operands(parameters, {normal(), normal(), normal()})};
      made.in.push_back(rate());
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
      {"each_its_own",
       MomentumAttrs{.mu = 0.5, .tensors = 2},
       {vector_of({1}), vector_of({10, 20}), vector_of({1}), vector_of({2, kNan}), vector_of({4}),
        vector_of({8, 1}), scalar(2)},
       {{-5}, {-2, kNan}, {3}, {6, kNan}}},
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
  for (const Several& parameters : several(7)) {
    for (const bool advance : {false, true}) {
      OpCase made{parameters.name + (advance ? "_advance" : ""),
                  of_several(AdamAttrs{.advance_step = advance}, parameters),
                  operands(parameters, {normal(), normal(), normal(), uniform(0.0, 1.0)})};
      made.in.push_back(rate());
      made.in.push_back(step(4));
      table.cases.push_back(std::move(made));
    }
  }
  table.specials = adam_specials();
  return table;
}

}  // namespace stepscope::conformance
