// Cases of what passes make where a backend wishes for it: LinearReluMask, MatMulMaskGrad,
// MatMulSgdUpdate.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tests/conformance/op_cases.h"
#include "tests/conformance/product_shapes.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TensorType matrix(std::int64_t rows, std::int64_t columns) { return {{rows, columns}, DType::f32}; }
SpecialCase::Values vector_of(std::vector<double> elements) {
  const auto size = static_cast<std::int64_t>(elements.size());
  return {{{size}, DType::f32}, std::move(elements), nullptr};
}
SpecialCase::Values step(double finished) { return {{Shape{}, DType::i32}, {finished}, nullptr}; }

MatMulAttrs relu_of(const Transposes& transposed) {
  return {transposed.a, transposed.b, Activation::relu};
}

// What LinearReluMask saves of a y {M, N} whose sums are exact, so that every backend and the
// oracle save the same of it: multiples of 1/4 out of two products and a bias. One in six or so of
// them is zero.
Operand mask(const Shape& y) {
  return made_by(OpKind::LinearReluMask,
                 {"mask",
                  relu_of(kTransposes[0]),
                  {f32({y[0], 2}, coarse()), f32({2, y[1]}, coarse()), f32({y[1]}, coarse())}},
                 1);
}

// The same of a y {1, N} written by hand, before relu.
SpecialCase::Values mask_of(std::vector<double> y) {
  const auto N = static_cast<std::int64_t>(y.size());
  const Operand made = made_by(OpKind::LinearReluMask,
                               {"special",
                                relu_of(kTransposes[0]),
                                {{matrix(1, 1), nullptr, {1.0}, nullptr},
                                 {matrix(1, N), nullptr, std::move(y), nullptr},
                                 f32({N}, constant(0.0))}},
                               1);
  return {made.type, {}, made.source};
}

// What the mask stops is zero; a sum that the mask lets through is never zero by chance.
std::vector<double> mask_grad_bound(const Oracle& oracle, std::size_t output) {
  const auto& settings = std::get<MatMulAttrs>(oracle.attrs);
  const std::vector<double> sizes = products(oracle, settings, 0);
  const double share = gamma(sum_length(oracle, settings, 0));
  return each_element(oracle, output, [&](std::size_t i) {
    return oracle.out[0][i] == 0.0 ? 0.0 : share * sizes[i];
  });
}

// Of a parameter that a column of b of K elements is taken from.
std::vector<double> bias_update_bound(const Oracle& oracle, std::size_t output) {
  const std::vector<double> sums = magnitudes(OpKind::ReduceSum, ReduceAttrs{0}, oracle, {2});
  const double share = gamma(oracle.in_types[2].shape[0]);
  return each_element(oracle, output,
                      [&](std::size_t i) { return share * (std::abs(oracle.in[3][i]) + sums[i]); });
}

std::vector<double> sgd_update_bound(const Oracle& oracle, std::size_t output) {
  const auto& settings = std::get<SmallUpdateAttrs>(oracle.attrs);
  const auto tensors = static_cast<std::size_t>(settings.tensors);
  if (output == 0) return product_update_bound<SmallUpdateAttrs>(oracle, output);
  if (output > tensors) return each_element(oracle, output, [](std::size_t) { return 0.0; });
  if (settings.bias && output == 1) return bias_update_bound(oracle, output);
  const std::vector<double>& parameter = oracle.in[2 + output];
  const std::vector<double>& gradient = oracle.in[2 + output + tensors - (settings.bias ? 1 : 0)];
  return each_element(oracle, output, [&](std::size_t i) {
    return gamma(1) * (std::abs(parameter[i]) + std::abs(gradient[i]));
  });
}

// The product of a shape, and parameters that are updated with it: {N} first where its gradient is
// the column sums, then `others`, which have gradients.
OpCase sgd_update_case(const ProductShape& shape, const Transposes& transposed, bool bias,
                       bool advance, const std::vector<Shape>& others, const char* suffix = "") {
  const auto tensors = static_cast<std::int64_t>(others.size()) + (bias ? 1 : 0);
  OpCase made{fmt::format("{}{}_with_{}{}{}{}", shape.name(), transposed.suffix, tensors,
                          bias ? "_bias" : "", advance ? "_advance" : "", suffix),
              SmallUpdateAttrs{transposed.a, transposed.b, bias, tensors, advance},
              {f32(shape.c()), f32(shape.a(transposed.a)), f32(shape.b(transposed.b))}};
  if (bias) made.in.push_back(f32({shape.N}));
  for (int kind = 0; kind < 2; ++kind) {
    for (const Shape& other : others) made.in.push_back(f32(other));
  }
  if (advance) made.in.push_back(i32(Shape{}, constant(41)));
  return made;
}

std::vector<OpCase> sgd_update_cases() {
  std::vector<OpCase> cases;
  for (const ProductShape& shape : product_shapes()) {
    bool advance = false;
    for (const Transposes& transposed : kTransposes) {
      for (const bool bias : {false, true}) {
        if (bias && transposed.b) continue;  // the shape rule refuses it
        advance = !advance;
        cases.push_back(sgd_update_case(shape, transposed, bias, advance, {Shape{7, 17}}));
      }
    }
  }
  const ProductShape small{13, 5, 10};
  cases.push_back(sgd_update_case(small, kTransposes[1], true, false, {}));
  cases.push_back(sgd_update_case(small, kTransposes[1], true, true, {}));
  cases.push_back(
      sgd_update_case(small, kTransposes[1], true, true, {Shape{64, 65}, Shape{1}}, "_wide"));
  std::vector<Shape> many;
  for (std::int64_t i = 0; i < 19; ++i) many.push_back(Shape{1 + 5 * i});
  cases.push_back(sgd_update_case(small, kTransposes[1], true, true, many));
  many.push_back(Shape{2, 3, 5, 7});
  cases.push_back(sgd_update_case(small, kTransposes[1], false, true, many));
  return cases;
}

}  // namespace

OpCases cases_of_LinearReluMask() {
  OpCases table{.bound = linear_bound, .cases = {}, .specials = {}};
  for (const ProductShape& shape : product_shapes()) {
    for (const Transposes& transposed : kTransposes) {
      table.cases.push_back(
          {shape.name() + transposed.suffix,
           relu_of(transposed),
           {f32(shape.a(transposed.a)), f32(shape.b(transposed.b)), f32({shape.N})}});
    }
  }
  table.specials = {
      {"kinks",
       relu_of(kTransposes[0]),
       {{matrix(1, 1), {1}}, {matrix(1, 4), {1, -3, kNan, -kInf}}, vector_of({2, 1, 0, 0})},
       {{3, 0, kNan, 0}, {}},
       Agreement::equal_bits},
      {"infinite_bias",
       relu_of(kTransposes[0]),
       {{matrix(1, 1), {1}}, {matrix(1, 4), {1, 1, 1, 1}}, vector_of({kInf, -kInf, kNan, -1})},
       {{kInf, 0, kNan, 0}, {}},
       Agreement::equal_bits},
      {"rows_stay_apart",
       relu_of(kTransposes[0]),
       {{matrix(2, 1), {kNan, 2}}, {matrix(1, 2), {1, -1}}, vector_of({1, 1})},
       {{kNan, kNan, 3, 0}, {}}},
  };
  return table;
}

// Inputs (a, b, saved): a selection, not a product with zeros. Nothing is said of a NaN in y.
OpCases cases_of_MatMulMaskGrad() {
  OpCases table{.bound = mask_grad_bound, .cases = {}, .specials = {}};
  for (const ProductShape& shape : product_shapes()) {
    for (const Transposes& transposed : kTransposes) {
      table.cases.push_back(
          {shape.name() + transposed.suffix,
           MatMulAttrs{transposed.a, transposed.b},
           {f32(shape.a(transposed.a)), f32(shape.b(transposed.b)), mask(shape.c())}});
    }
  }
  table.specials = {
      {"y_at_kinks",
       MatMulAttrs{},
       {{matrix(1, 1), {3}},
        {matrix(1, 7), {1, 2, 3, 4, 5, 6, 7}},
        mask_of({0.0, -0.0, 0.5, kInf, -kInf, kSmallestNormal, -1.0})},
       {{0, 0, 9, 12, 0, 18, 0}},
       Agreement::equal_bits},
      {"stops_nan_and_inf",
       MatMulAttrs{},
       {{matrix(1, 1), {kInf}}, {matrix(1, 4), {0, 1, 0, 1}}, mask_of({-1, 0, 1, 1})},
       {{0, 0, kNan, kInf}},
       Agreement::equal_bits},
  };
  return table;
}

OpCases cases_of_MatMulSgdUpdate() {
  OpCases table{.bound = sgd_update_bound, .cases = sgd_update_cases(), .specials = {}};
  const SpecialCase::Values weights{matrix(2, 2), {10, 20, 30, 40}, nullptr};
  const SpecialCase::Values unit{matrix(2, 2), {1, 0, 0, 1}, nullptr};
  const SpecialCase::Values gradient{matrix(2, 2), {1, 2, 3, 4}, nullptr};
  table.specials = {
      {"each_its_own",
       SmallUpdateAttrs{.tensors = 2, .advance_step = true},
       {weights, unit, gradient, vector_of({5}), vector_of({1, kNan}), vector_of({3}),
        vector_of({kInf, 1}), step(7)},
       {{9, 18, 27, 36}, {2}, {-kInf, kNan}, {8}},
       Agreement::equal_bits},
      {"column_sums",
       SmallUpdateAttrs{.transpose_a = true, .bias = true, .tensors = 2},
       {weights, unit, gradient, vector_of({100, 200}), vector_of({1}), vector_of({0.5})},
       {{9, 18, 27, 36}, {96, 194}, {0.5}},
       Agreement::equal_bits},
      {"spoiled_weights_stay_alone",
       SmallUpdateAttrs{.bias = true, .tensors = 1, .advance_step = true},
       {{matrix(2, 2), {kNan, 1, kInf, 1}},
        {matrix(2, 1), {1, kInf}},
        {matrix(1, 2), {2, 0}},
        vector_of({1, kInf}),
        step(0)},
       {{kNan, 1, kNan, kNan}, {-1, kInf}, {1}}},
  };
  return table;
}

}  // namespace stepscope::conformance
