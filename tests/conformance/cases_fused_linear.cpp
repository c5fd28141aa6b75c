// Cases of what is fused around products: Linear, MatMulReluGrad, MatMulBiasGrad, MatMulUpdate.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tests/conformance/activation_bounds.h"
#include "tests/conformance/op_cases.h"
#include "tests/conformance/product_shapes.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kDenormal = std::numeric_limits<float>::denorm_min();

TensorType matrix(std::int64_t rows, std::int64_t columns) { return {{rows, columns}, DType::f32}; }
SpecialCase::Values vector_of(std::vector<double> elements) {
  const auto size = static_cast<std::int64_t>(elements.size());
  return {{{size}, DType::f32}, std::move(elements), nullptr};
}

std::vector<double> relu_grad_bound(const Oracle& oracle, std::size_t output) {
  const auto& settings = std::get<MatMulAttrs>(oracle.attrs);
  const std::vector<double> sizes = products(oracle, settings, 0);
  const double share = gamma(sum_length(oracle, settings, 0));
  return each_element(oracle, output, [&](std::size_t i) {
    return oracle.in[2][i] <= 0.0 ? 0.0 : share * sizes[i];
  });
}

// K terms of a column of b; `input` is b.
std::vector<double> column_bound(const Oracle& oracle, std::size_t output, std::size_t input) {
  const std::vector<double> sizes = magnitudes(OpKind::ReduceSum, ReduceAttrs{0}, oracle, {input});
  const double share = gamma(std::max<std::int64_t>(1, oracle.in_types[input].shape[0] - 1));
  return each_element(oracle, output, [&](std::size_t i) { return share * sizes[i]; });
}

std::vector<double> bias_grad_bound(const Oracle& oracle, std::size_t output) {
  if (output == 1) return column_bound(oracle, output, 1);
  const auto& settings = std::get<MatMulAttrs>(oracle.attrs);
  const std::vector<double> sizes = products(oracle, settings, 0);
  const double share = gamma(sum_length(oracle, settings, 0));
  return each_element(oracle, output, [&](std::size_t i) { return share * sizes[i]; });
}

std::vector<double> update_bound(const Oracle& oracle, std::size_t output) {
  if (output == 1) return column_bound(oracle, output, 2);
  return product_update_bound<ProductUpdateAttrs>(oracle, output);
}

OpCase linear_case(const ProductShape& sizes, const Transposes& transposed,
                   std::size_t activation) {
  return {fmt::format("{}_{}{}", sizes.name(), kActivationNames[activation], transposed.suffix),
          MatMulAttrs{transposed.a, transposed.b, kActivations[activation]},
          {f32(sizes.a(transposed.a)), f32(sizes.b(transposed.b)), f32({sizes.N})}};
}

// One row of one element against four columns.
SpecialCase linear_special(std::string name, Activation activation, std::vector<double> w,
                           std::vector<double> bias, std::vector<double> y,
                           Agreement agreement = Agreement::bounded) {
  return {std::move(name),
          MatMulAttrs{.activation = activation},
          {{matrix(1, 1), {1}}, {matrix(1, 4), std::move(w)}, vector_of(std::move(bias))},
          {std::move(y)},
          agreement};
}

}  // namespace

OpCases cases_of_Linear() {
  OpCases table{.bound = linear_bound, .cases = {}, .specials = {}};
  for (const ProductShape& sizes : product_shapes()) {
    for (std::size_t each = 0; each < std::size(kActivations); ++each) {
      table.cases.push_back(linear_case(sizes, kTransposes[0], each));
    }
    for (std::size_t each = 1; each < std::size(kTransposes); ++each) {
      table.cases.push_back(linear_case(sizes, kTransposes[each], each));
    }
  }
  table.specials = {
      linear_special("plain", Activation::none, {kInf, kNan, -3, kInf}, {1, 2, 3, -kInf},
                     {kInf, kNan, 0, kNan}),
      linear_special("relu", Activation::relu, {1, -3, kNan, -kInf}, {2, 1, 0, 0}, {3, 0, kNan, 0},
                     Agreement::equal_bits),
      linear_special("relu_of_an_infinite_bias", Activation::relu, {1, 1, 1, 1},
                     {kInf, -kInf, kNan, -1}, {kInf, 0, kNan, 0}, Agreement::equal_bits),
      linear_special("tanh", Activation::tanh, {kInf, -kInf, kNan, 0}, {0, 0, 0, 0},
                     {1, -1, kNan, 0}, Agreement::equal_bits),
      linear_special("sigmoid", Activation::sigmoid, {kInf, -kInf, kNan, 0}, {0, 0, 0, 0},
                     {1, 0, kNan, 0.5}, Agreement::equal_bits),
      {"rows_stay_apart",
       MatMulAttrs{.activation = Activation::relu},
       {{matrix(2, 1), {kNan, 2}}, {matrix(1, 2), {1, -1}}, vector_of({1, 1})},
       {{kNan, kNan, 3, 0}}},
  };
  return table;
}

// Inputs (a, b, y): a selection, not a product with zeros.
OpCases cases_of_MatMulReluGrad() {
  OpCases table{.bound = relu_grad_bound, .cases = {}, .specials = {}};
  for (const ProductShape& sizes : product_shapes()) {
    for (const Transposes& transposed : kTransposes) {
      table.cases.push_back(
          {sizes.name() + transposed.suffix,
           MatMulAttrs{transposed.a, transposed.b},
           {f32(sizes.a(transposed.a)), f32(sizes.b(transposed.b)), f32(sizes.c(), coarse())}});
    }
  }
  table.specials = {
      {"y_at_kinks",
       MatMulAttrs{},
       {{matrix(1, 1), {3}},
        {matrix(1, 6), {1, 2, 3, 4, 5, 6}},
        {matrix(1, 6), {0.0, -0.0, kNan, kInf, -kInf, kDenormal}}},
       {{0, 0, 9, 12, 0, 18}},
       Agreement::equal_bits},
      {"stops_nan_and_inf",
       MatMulAttrs{},
       {{matrix(1, 1), {kInf}}, {matrix(1, 4), {0, 1, 0, 1}}, {matrix(1, 4), {0, 0, 1, 1}}},
       {{0, 0, kNan, kInf}},
       Agreement::equal_bits},
  };
  return table;
}

OpCases cases_of_MatMulBiasGrad() {
  OpCases table{.bound = bias_grad_bound, .cases = {}, .specials = {}};
  for (const ProductShape& sizes : product_shapes()) {
    for (const bool transposed : {false, true}) {
      table.cases.push_back({sizes.name() + (transposed ? "_ta" : ""),
                             MatMulAttrs{transposed, false},
                             {f32(sizes.a(transposed)), f32(sizes.b(false))}});
    }
  }
  table.specials = {
      {"product_and_sums",
       MatMulAttrs{true, false},
       {{matrix(2, 1), {2, 3}}, {matrix(2, 2), {1, 2, 3, 4}}},
       {{11, 16}, {4, 6}},
       Agreement::equal_bits},
      {"columns_stay_apart",
       MatMulAttrs{},
       {{matrix(1, 2), {1, 0}}, {matrix(2, 3), {kNan, 1, kInf, 2, 2, -kInf}}},
       {{kNan, 1, kNan}, {kNan, 3, kNan}}},
  };
  return table;
}

OpCases cases_of_MatMulUpdate() {
  OpCases table{.bound = update_bound, .cases = {}, .specials = {}};
  for (const ProductShape& sizes : product_shapes()) {
    for (const Transposes& transposed : kTransposes) {
      for (const bool sums : {false, true}) {
        if (sums && transposed.b) continue;  // the shape rule refuses it
        table.cases.push_back(
            {sizes.name() + transposed.suffix + (sums ? "_sums" : ""),
             ProductUpdateAttrs{transposed.a, transposed.b, sums},
             {f32(sizes.c()), f32(sizes.a(transposed.a)), f32(sizes.b(transposed.b))}});
      }
    }
  }
  const SpecialCase::Values weights{matrix(2, 2), {10, 20, 30, 40}, nullptr};
  table.specials = {
      {"takes_the_product_away",
       ProductUpdateAttrs{},
       {weights, {matrix(2, 1), {1, 2}}, {matrix(1, 2), {3, 4}}},
       {{7, 16, 24, 32}},
       Agreement::equal_bits},
      {"and_sums_columns",
       ProductUpdateAttrs{.transpose_a = true, .bias_grad = true},
       {weights, {matrix(2, 2), {1, 0, 0, 1}}, {matrix(2, 2), {1, 2, 3, 4}}},
       {{9, 18, 27, 36}, {4, 6}},
       Agreement::equal_bits},
      {"spoiled_weights_stay_alone",
       ProductUpdateAttrs{},
       {{matrix(2, 2), {kNan, 1, kInf, 1}}, {matrix(2, 1), {1, kInf}}, {matrix(1, 2), {2, 0}}},
       {{kNan, 1, kNan, kNan}}},
  };
  return table;
}

}  // namespace stepscope::conformance
