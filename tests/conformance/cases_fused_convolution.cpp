// Cases of what is fused around convolutions: Conv2dBias, Conv2dInputReluGrad,
// Conv2dWeightBiasGrad, Conv2dWeightUpdate.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "tests/conformance/activation_bounds.h"
#include "tests/conformance/image_shapes.h"
#include "tests/conformance/op_cases.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kDenormal = std::numeric_limits<float>::denorm_min();

constexpr std::size_t kRelu = 1;  // in kActivations
constexpr std::size_t kOthers[] = {0, 2, 3};

TensorType image(std::int64_t N, std::int64_t C, std::int64_t H, std::int64_t W) {
  return {{N, C, H, W}, DType::f32};
}
SpecialCase::Values vector_of(std::vector<double> elements) {
  const auto size = static_cast<std::int64_t>(elements.size());
  return {{{size}, DType::f32}, std::move(elements), nullptr};
}

// C KH KW products and the bias, then the activation.
std::vector<double> bias_bound(const Oracle& oracle, std::size_t output) {
  const auto& settings = std::get<Conv2dAttrs>(oracle.attrs);
  Conv2dAttrs plain = settings;
  plain.activation = Activation::none;
  const std::vector<double> sizes = magnitudes(OpKind::Conv2d, plain, oracle, {0, 1});
  const Shape& w = oracle.in_types[1].shape;
  const double share = gamma(w[1] * w[2] * w[3] + 1);
  const auto O = static_cast<std::size_t>(w[0]);
  const std::size_t plane =
      sizes.size() / (O * static_cast<std::size_t>(oracle.in_types[0].shape[0]));
  return each_element(oracle, output, [&](std::size_t i) {
    return activation_error(settings.activation, oracle.out[0][i],
                            share * (sizes[i] + std::abs(oracle.in[2][i / plane % O])));
  });
}

std::vector<double> relu_grad_bound(const Oracle& oracle, std::size_t output) {
  const std::vector<double> sizes =
      magnitudes(OpKind::Conv2dInputGrad, oracle.attrs, oracle, {0, 1});
  const Shape& w = oracle.in_types[1].shape;
  const double share = gamma(w[0] * w[2] * w[3]);
  return each_element(oracle, output, [&](std::size_t i) {
    return oracle.in[2][i] <= 0.0 ? 0.0 : share * sizes[i];
  });
}

// N OH OW terms of a channel, the same for weights and bias; `input` is dy.
std::int64_t places(const Oracle& oracle, std::size_t input) {
  const Shape& dy = oracle.in_types[input].shape;
  return dy[0] * dy[2] * dy[3];
}
std::vector<double> db_bound(const Oracle& oracle, std::size_t output, std::size_t input) {
  const std::vector<double> sizes = magnitudes(OpKind::BiasGrad, {}, oracle, {input});
  const double share = gamma(std::max<std::int64_t>(1, places(oracle, input) - 1));
  return each_element(oracle, output, [&](std::size_t i) { return share * sizes[i]; });
}

std::vector<double> weight_bias_bound(const Oracle& oracle, std::size_t output) {
  if (output == 1) return db_bound(oracle, output, 1);
  const std::vector<double> sizes =
      magnitudes(OpKind::Conv2dWeightGrad, oracle.attrs, oracle, {0, 1});
  const double share = gamma(places(oracle, 1));
  return each_element(oracle, output, [&](std::size_t i) { return share * sizes[i]; });
}

// A sum of products and W.
std::vector<double> update_bound(const Oracle& oracle, std::size_t output) {
  if (output == 1) return db_bound(oracle, output, 2);
  const auto& settings = std::get<Conv2dUpdateAttrs>(oracle.attrs);
  const Shape& w = oracle.in_types[0].shape;
  const Conv2dGradAttrs gradient{.stride_h = settings.stride_h,
                                 .stride_w = settings.stride_w,
                                 .pad_h = settings.pad_h,
                                 .pad_w = settings.pad_w,
                                 .height = w[2],
                                 .width = w[3]};
  const std::vector<double> sizes = magnitudes(OpKind::Conv2dWeightGrad, gradient, oracle, {1, 2});
  const double share = gamma(places(oracle, 2) + 1);
  return each_element(oracle, output, [&](std::size_t i) {
    return share * (std::abs(oracle.in[0][i]) + sizes[i]);
  });
}

Conv2dUpdateAttrs update_of(const ConvolutionShape& shape, bool bias_grad) {
  return {.stride_h = shape.stride_h,
          .stride_w = shape.stride_w,
          .pad_h = shape.pad_h,
          .pad_w = shape.pad_w,
          .bias_grad = bias_grad};
}

// Four filters of one place on one place.
SpecialCase bias_special(std::string name, Activation activation, std::vector<double> w,
                         std::vector<double> bias, std::vector<double> y,
                         Agreement agreement = Agreement::bounded) {
  return {std::move(name),
          Conv2dAttrs{.activation = activation},
          {{image(1, 1, 1, 1), {1}}, {image(4, 1, 1, 1), std::move(w)}, vector_of(std::move(bias))},
          {std::move(y)},
          agreement};
}

}  // namespace

OpCases cases_of_Conv2dBias() {
  OpCases table{.bound = bias_bound, .cases = {}, .specials = {}};
  std::size_t other = 0;  // relu on all shapes, the others in turn
  for (const ConvolutionShape& shape : convolution_shapes()) {
    for (const std::size_t each : {kRelu, kOthers[other++ % std::size(kOthers)]}) {
      table.cases.push_back({fmt::format("{}_{}", shape.name(), kActivationNames[each]),
                             shape.forward(kActivations[each]),
                             {f32(shape.x()), f32(shape.w()), f32({shape.O})}});
    }
  }
  table.specials = {
      bias_special("plain", Activation::none, {kInf, kNan, -3, kInf}, {1, 2, 3, -kInf},
                   {kInf, kNan, 0, kNan}),
      bias_special("relu", Activation::relu, {1, -3, kNan, -kInf}, {2, 1, 0, 0}, {3, 0, kNan, 0},
                   Agreement::equal_bits),
      bias_special("relu_of_an_infinite_bias", Activation::relu, {1, 1, 1, 1},
                   {kInf, -kInf, kNan, -1}, {kInf, 0, kNan, 0}, Agreement::equal_bits),
      bias_special("tanh", Activation::tanh, {kInf, -kInf, kNan, 0}, {0, 0, 0, 0}, {1, -1, kNan, 0},
                   Agreement::equal_bits),
      bias_special("sigmoid", Activation::sigmoid, {kInf, -kInf, kNan, 0}, {0, 0, 0, 0},
                   {1, 0, kNan, 0.5}, Agreement::equal_bits),
      {"bias_in_the_padding_too",
       Conv2dAttrs{.pad_h = 1, .pad_w = 1, .activation = Activation::relu},
       {{image(1, 1, 1, 1), {2}}, {image(2, 1, 1, 1), {1, -1}}, vector_of({3, 1})},
       {{3, 3, 3, 3, 5, 3, 3, 3, 3, 1, 1, 1, 1, 0, 1, 1, 1, 1}},
       Agreement::equal_bits},
  };
  return table;
}

// Inputs (dy, w, y): a selection, not a product with zeros.
OpCases cases_of_Conv2dInputReluGrad() {
  OpCases table{.bound = relu_grad_bound, .cases = {}, .specials = {}};
  for (const ConvolutionShape& shape : convolution_shapes()) {
    table.cases.push_back({shape.name(),
                           shape.of_input(),
                           {f32(shape.y()), f32(shape.w()), f32(shape.x(), coarse())}});
  }
  table.specials = {
      {"y_at_kinks",
       Conv2dGradAttrs{.height = 1, .width = 6},
       {{image(1, 1, 1, 6), {1, 2, 3, 4, 5, 6}},
        {image(1, 1, 1, 1), {3}},
        {image(1, 1, 1, 6), {0.0, -0.0, kNan, kInf, -kInf, kDenormal}}},
       {{0, 0, 9, 12, 0, 18}},
       Agreement::equal_bits},
      {"stops_nan_and_inf",
       Conv2dGradAttrs{.height = 1, .width = 4},
       {{image(1, 1, 1, 4), {kNan, kInf, kNan, kInf}},
        {image(1, 1, 1, 1), {1}},
        {image(1, 1, 1, 4), {0, 0, 1, 1}}},
       {{0, 0, kNan, kInf}},
       Agreement::equal_bits},
  };
  return table;
}

OpCases cases_of_Conv2dWeightBiasGrad() {
  OpCases table{.bound = weight_bias_bound, .cases = {}, .specials = {}};
  for (const ConvolutionShape& shape : convolution_shapes()) {
    table.cases.push_back({shape.name(), shape.of_weights(), {f32(shape.x()), f32(shape.y())}});
  }
  table.specials = {
      {"sums_images",
       Conv2dGradAttrs{.height = 1, .width = 2},
       {{image(2, 1, 1, 2), {1, 2, 3, 4}}, {image(2, 1, 1, 1), {10, 100}}},
       {{310, 420}, {110}},
       Agreement::equal_bits},
      {"filters_stay_apart",
       Conv2dGradAttrs{},
       {{image(1, 1, 1, 1), {2}}, {image(1, 2, 1, 1), {kNan, 3}}},
       {{kNan, 6}, {kNan, 3}}},
  };
  return table;
}

OpCases cases_of_Conv2dWeightUpdate() {
  OpCases table{.bound = update_bound, .cases = {}, .specials = {}};
  for (const ConvolutionShape& shape : convolution_shapes()) {
    for (const bool bias_grad : {false, true}) {
      table.cases.push_back({shape.name() + (bias_grad ? "_db" : ""),
                             update_of(shape, bias_grad),
                             {f32(shape.w()), f32(shape.x()), f32(shape.y())}});
    }
  }
  const SpecialCase::Values x{image(2, 1, 1, 2), {1, 2, 3, 4}, nullptr};
  const SpecialCase::Values dy{image(2, 1, 1, 1), {10, 100}, nullptr};
  table.specials = {
      {"takes_the_gradient_away",
       Conv2dUpdateAttrs{},
       {{image(1, 1, 1, 2), {1000, 2000}}, x, dy},
       {{690, 1580}},
       Agreement::equal_bits},
      {"and_sums_the_bias",
       Conv2dUpdateAttrs{.bias_grad = true},
       {{image(1, 1, 1, 2), {1000, 2000}}, x, dy},
       {{690, 1580}, {110}},
       Agreement::equal_bits},
      {"spoiled_weights_stay_alone",
       Conv2dUpdateAttrs{},
       {{image(1, 1, 1, 2), {kNan, 1}}, x, dy},
       {{kNan, -419}}},
  };
  return table;
}

}  // namespace stepscope::conformance
