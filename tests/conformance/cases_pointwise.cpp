// Cases of pointwise ops, their gradients, and Fill.
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
constexpr double kLargest = std::numeric_limits<float>::max();
constexpr double kDenormal = std::numeric_limits<float>::denorm_min();

std::vector<OpCase> unary_cases(const Draw& draw) {
  std::vector<OpCase> cases;
  for (const Shape& shape : pointwise_shapes()) {
    cases.push_back({shape_name(shape), {}, {f32(shape, draw)}});
  }
  return cases;
}

std::vector<OpCase> binary_cases(const Draw& first, const Draw& second) {
  std::vector<OpCase> cases;
  for (const Shape& shape : pointwise_shapes()) {
    cases.push_back({shape_name(shape), {}, {f32(shape, first), f32(shape, second)}});
  }
  return cases;
}

// Columns of a table: the elements of each input, then of the output.
SpecialCase special(std::string name, std::vector<std::vector<double>> in, std::vector<double> out,
                    Attrs attrs = {}, Agreement agreement = Agreement::bounded) {
  SpecialCase made{std::move(name), std::move(attrs), {}, {std::move(out)}, agreement};
  for (std::vector<double>& elements : in) {
    const auto size = static_cast<std::int64_t>(elements.size());
    made.in.push_back({{{size}, DType::f32}, std::move(elements)});
  }
  return made;
}

// y (1 - y) and 1 - y^2: the terms y and y^2 (or 1 and y^2) are rounded at most three times on
// their way through product, difference and product.
Bound slope_bound(double constant_term, double linear_term) {
  return [=](const Oracle& oracle, std::size_t output) {
    return each_element(oracle, output, [&](std::size_t i) {
      const double y = oracle.in[1][i];
      return gamma(3) * std::abs(oracle.in[0][i]) *
             (constant_term + linear_term * std::abs(y) + y * y);
    });
  };
}

}  // namespace

OpCases cases_of_Add() {
  return {Agreement::equal_bits,
          relative(1),
          binary_cases(normal(), normal()),
          {special("sums",
                   {{0.0, -0.0, 0.0, kInf, kInf, kNan, kLargest, kInf},
                    {-0.0, -0.0, 0.0, -kInf, kInf, 1.0, kLargest, 1.0}},
                   {0.0, -0.0, 0.0, kNan, kInf, kNan, kInf, kInf})}};
}

OpCases cases_of_Sub() {
  return {Agreement::equal_bits,
          relative(1),
          binary_cases(normal(), normal()),
          {special("differences",
                   {{0.0, -0.0, -0.0, kInf, kInf, kNan, -kLargest, 1.0},
                    {0.0, 0.0, -0.0, kInf, -kInf, 1.0, kLargest, kNan}},
                   {0.0, -0.0, 0.0, kNan, kInf, kNan, -kInf, kNan})}};
}

OpCases cases_of_Mul() {
  return {Agreement::equal_bits,
          relative(1),
          binary_cases(normal(), normal()),
          {special("products",
                   {{0.0, -0.0, kInf, kInf, kNan, 1e-30, kLargest, -kInf},
                    {-1.0, -1.0, 0.0, -1.0, 0.0, 1e-30, 2.0, -kInf}},
                   {-0.0, 0.0, kNan, -kInf, kNan, 0.0, kInf, kInf})}};
}

OpCases cases_of_Scale() {
  // The factor is rounded to the type of the values, then the product.
  OpCases table{Agreement::equal_bits, relative(2), {}, {}};
  for (const auto& [factor, text] :
       {std::pair{0.5, "half"}, {-1.0, "minus_one"}, {0.1, "tenth"}, {3.0, "three"}}) {
    for (const Shape& shape : pointwise_shapes()) {
      table.cases.push_back(
          {fmt::format("{}_{}", shape_name(shape), text), ScaleAttrs{factor}, {f32(shape)}});
    }
  }
  table.specials = {
      special("by_minus_one", {{0.0, -0.0, kInf, -kInf, kNan}}, {-0.0, 0.0, -kInf, kInf, kNan},
              ScaleAttrs{-1.0}),
      special("by_zero", {{1.0, -1.0, kInf, kNan}}, {0.0, -0.0, kNan, kNan}, ScaleAttrs{0.0}),
  };
  return table;
}

OpCases cases_of_Fill() {
  OpCases table{Agreement::equal_bits, relative(1), {}, {}};
  for (const Shape& shape : pointwise_shapes()) {
    table.cases.push_back({shape_name(shape), FillAttrs{{shape, DType::f32}, 0.1}, {}});
  }
  const TensorType three{{3}, DType::f32};
  for (const auto& [value, text] : {std::pair{-0.0, "minus_zero"}, {kInf, "inf"}, {kNan, "nan"}}) {
    table.specials.push_back({text, FillAttrs{three, value}, {}, {{value, value, value}}});
  }
  return table;
}

OpCases cases_of_Relu() {
  return {Agreement::equal_bits,
          relative(1),
          unary_cases(away_from_zero()),
          {special("kinks", {{0.0, -0.0, kNan, kInf, -kInf, -1.0, kDenormal, -kDenormal}},
                   {0.0, 0.0, kNan, kInf, 0.0, 0.0, kDenormal, 0.0})}};
}

// Inputs (dy, y): a selection, not a product.
OpCases cases_of_ReluGrad() {
  return {Agreement::equal_bits,
          relative(1),
          binary_cases(normal(), coarse()),
          {special("y_at_kinks",
                   {{5.0, 5.0, 5.0, 5.0, 5.0, 5.0}, {0.0, -0.0, kNan, kInf, -kInf, kDenormal}},
                   {0.0, 0.0, 5.0, 5.0, 0.0, 5.0}),
           special("dy", {{kNan, kNan, kInf, kInf, -0.0, -0.0}, {1.0, 0.0, 1.0, -1.0, 1.0, 0.0}},
                   {kNan, 0.0, kInf, 0.0, -0.0, 0.0})}};
}

OpCases cases_of_Tanh() {
  return {Agreement::bounded,
          relative(kTanhRoundings),
          unary_cases(normal(3.0)),
          {special("ends", {{0.0, kInf, -kInf, kNan, 100.0, -100.0}},
                   {0.0, 1.0, -1.0, kNan, 1.0, -1.0}, {}, Agreement::equal_bits)}};
}

OpCases cases_of_TanhGrad() {
  return {Agreement::bounded,
          slope_bound(1.0, 0.0),
          binary_cases(normal(), uniform(-1.0, 1.0)),
          {special("ends", {{2.0, 2.0, 2.0, kNan, kInf, kInf}, {1.0, -1.0, kNan, 0.5, 0.0, 1.0}},
                   {0.0, 0.0, kNan, kNan, kInf, kNan})}};
}

OpCases cases_of_Sigmoid() {
  // exp, sum, quotient.
  return {Agreement::bounded,
          relative(kExpRoundings + 2),
          unary_cases(normal(3.0)),
          {special("ends", {{0.0, -0.0, kInf, -kInf, kNan, 200.0, -200.0}},
                   {0.5, 0.5, 1.0, 0.0, kNan, 1.0, 0.0}, {}, Agreement::equal_bits)}};
}

OpCases cases_of_SigmoidGrad() {
  return {Agreement::bounded,
          slope_bound(0.0, 1.0),
          binary_cases(normal(), uniform(0.0, 1.0)),
          {special("ends", {{2.0, 2.0, 2.0, kNan, kInf, kInf}, {1.0, 0.0, kNan, 0.5, 0.5, 0.0}},
                   {0.0, 0.0, kNan, kNan, kInf, kNan})}};
}

}  // namespace stepscope::conformance
