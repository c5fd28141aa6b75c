// Cases of convolutions and their gradients.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "tests/conformance/image_shapes.h"
#include "tests/conformance/op_cases.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TensorType image(std::int64_t N, std::int64_t C, std::int64_t H, std::int64_t W) {
  return {{N, C, H, W}, DType::f32};
}

// The most products that one element is the sum of: gamma(n) |x| |w|.
Bound product_sum(OpKind kind, std::int64_t (*terms)(const Oracle&)) {
  return [=](const Oracle& oracle, std::size_t output) {
    const std::vector<double> sizes = magnitudes(kind, oracle.attrs, oracle, {0, 1});
    const double share = gamma(terms(oracle));
    return each_element(oracle, output, [&](std::size_t i) { return share * sizes[i]; });
  };
}

std::int64_t of_output(const Oracle& oracle) {  // w {O, C, KH, KW}
  const Shape& w = oracle.in_types[1].shape;
  return w[1] * w[2] * w[3];
}
std::int64_t of_input(const Oracle& oracle) {
  const Shape& w = oracle.in_types[1].shape;
  return w[0] * w[2] * w[3];
}
std::int64_t of_weight(const Oracle& oracle) {  // dy {N, O, OH, OW}
  const Shape& dy = oracle.in_types[1].shape;
  return dy[0] * dy[2] * dy[3];
}

// N * inner terms of a channel.
std::vector<double> bias_bound(const Oracle& oracle, std::size_t output) {
  const Shape& dy = oracle.in_types[0].shape;
  const std::vector<double> sizes = magnitudes(OpKind::BiasGrad, {}, oracle, {0});
  const double share = gamma(std::max<std::int64_t>(1, dy.elements() / dy[1] - 1));
  return each_element(oracle, output, [&](std::size_t i) { return share * sizes[i]; });
}

// Values are small whole numbers, so that all is exact.
SpecialCase::Values ramp() { return {image(1, 1, 3, 3), {1, 2, 3, 4, 5, 6, 7, 8, 9}, nullptr}; }
SpecialCase::Values corner() { return {image(1, 1, 2, 2), {1, 2, 3, 4}, nullptr}; }

std::vector<SpecialCase> conv2d_specials() {
  return {
      {"as_it_lies", Conv2dAttrs{}, {ramp(), corner()}, {{37, 47, 67, 77}}, Agreement::equal_bits},
      {"padded_with_stride",
       Conv2dAttrs{.stride_h = 2, .stride_w = 2, .pad_h = 1, .pad_w = 1},
       {ramp(), corner()},
       {{4, 18, 36, 77}},
       Agreement::equal_bits},
      {"other_along_h_than_along_w",
       Conv2dAttrs{.stride_w = 2, .pad_w = 1},
       {{image(1, 1, 2, 3), {1, 2, 3, 4, 5, 6}}, {image(1, 1, 1, 2), {10, 1}}},
       {{1, 23, 4, 56}},
       Agreement::equal_bits},
      {"sums_channels",
       Conv2dAttrs{},
       {{image(1, 2, 1, 2), {1, 2, 3, 4}}, {image(2, 2, 1, 1), {1, 10, 100, 1000}}},
       {{31, 42, 3100, 4200}},
       Agreement::equal_bits},
      {"images_stay_apart",
       Conv2dAttrs{},
       {{image(2, 1, 1, 2), {1, 2, kNan, 4}}, {image(1, 1, 1, 2), {1, 10}}},
       {{21, kNan}}},
      {"nan_as_far_as_the_kernel",
       Conv2dAttrs{},
       {{image(1, 1, 1, 5), {1, kNan, 2, 3, 4}}, {image(1, 1, 1, 2), {1, 1}}},
       {{kNan, kNan, 5, 7}}},
      {"nan_in_one_filter",
       Conv2dAttrs{},
       {{image(1, 1, 1, 1), {2}}, {image(3, 1, 1, 1), {1, kNan, 3}}},
       {{2, kNan, 6}}},
      {"inf_times_zero",
       Conv2dAttrs{},
       {{image(1, 1, 1, 3), {kInf, 1, 2}}, {image(1, 1, 1, 2), {0, 1}}},
       {{kNan, 2}}},
      {"inf_less_inf",
       Conv2dAttrs{},
       {{image(1, 2, 1, 1), {kInf, kInf}}, {image(2, 2, 1, 1), {1, -1, 1, 1}}},
       {{kNan, kInf}}},
  };
}

}  // namespace

OpCases cases_of_Conv2d() {
  OpCases table{.bound = product_sum(OpKind::Conv2d, of_output), .cases = {}, .specials = {}};
  for (const ConvolutionShape& shape : convolution_shapes()) {
    table.cases.push_back({shape.name(), shape.forward(), {f32(shape.x()), f32(shape.w())}});
  }
  table.specials = conv2d_specials();
  return table;
}

OpCases cases_of_Conv2dInputGrad() {
  OpCases table{
      .bound = product_sum(OpKind::Conv2dInputGrad, of_input), .cases = {}, .specials = {}};
  for (const ConvolutionShape& shape : convolution_shapes()) {
    table.cases.push_back({shape.name(), shape.of_input(), {f32(shape.y()), f32(shape.w())}});
  }
  table.specials = {
      {"as_it_lies",
       Conv2dGradAttrs{.height = 3, .width = 3},
       {corner(), corner()},
       {{1, 4, 4, 6, 20, 16, 9, 24, 16}},
       Agreement::equal_bits},
      {"padding_is_cut_off",
       Conv2dGradAttrs{.pad_h = 1, .pad_w = 1, .height = 1, .width = 1},
       {corner(), corner()},
       {{20}},
       Agreement::equal_bits},
      // The places that no output sees get nothing.
      {"left_out_by_the_stride",
       Conv2dGradAttrs{.stride_w = 3, .height = 1, .width = 6},
       {{image(1, 1, 1, 2), {1, 2}}, {image(1, 1, 1, 2), {3, 5}}},
       {{3, 5, 0, 6, 10, 0}},
       Agreement::equal_bits},
      {"sums_filters",
       Conv2dGradAttrs{},
       {{image(1, 2, 1, 1), {1, 10}}, {image(2, 2, 1, 1), {2, 3, 5, 7}}},
       {{52, 73}},
       Agreement::equal_bits},
      {"nan_stays_in_its_places",
       Conv2dGradAttrs{.stride_w = 2, .height = 1, .width = 4},
       {{image(1, 1, 1, 2), {kNan, 2}}, {image(1, 1, 1, 2), {3, 5}}},
       {{kNan, kNan, 6, 10}}},
  };
  return table;
}

OpCases cases_of_Conv2dWeightGrad() {
  OpCases table{
      .bound = product_sum(OpKind::Conv2dWeightGrad, of_weight), .cases = {}, .specials = {}};
  for (const ConvolutionShape& shape : convolution_shapes()) {
    table.cases.push_back({shape.name(), shape.of_weights(), {f32(shape.x()), f32(shape.y())}});
  }
  table.specials = {
      {"as_it_lies",
       Conv2dGradAttrs{.height = 2, .width = 2},
       {ramp(), corner()},
       {{37, 47, 67, 77}},
       Agreement::equal_bits},
      {"sums_images",
       Conv2dGradAttrs{.height = 1, .width = 2},
       {{image(2, 1, 1, 2), {1, 2, 3, 4}}, {image(2, 1, 1, 1), {10, 100}}},
       {{310, 420}},
       Agreement::equal_bits},
      {"padding_is_zero",
       Conv2dGradAttrs{.pad_h = 1, .pad_w = 1, .height = 3, .width = 3},
       {{image(1, 1, 1, 1), {7}}, {image(1, 1, 1, 1), {3}}},
       {{0, 0, 0, 0, 21, 0, 0, 0, 0}},
       Agreement::equal_bits},
      {"nan_in_one_filter",
       Conv2dGradAttrs{},
       {{image(1, 1, 1, 1), {2}}, {image(1, 2, 1, 1), {kNan, 3}}},
       {{kNan, 6}}},
      {"nan_in_one_channel",
       Conv2dGradAttrs{},
       {{image(1, 2, 1, 1), {kNan, 5}}, {image(1, 2, 1, 1), {2, 3}}},
       {{kNan, 10, kNan, 15}}},
  };
  return table;
}

OpCases cases_of_BiasGrad() {
  OpCases table{.bound = bias_bound, .cases = {}, .specials = {}};
  for (const Shape& shape :
       {Shape{1, 1}, Shape{2, 3}, Shape{65, 17}, Shape{3, 2, 7}, Shape{1, 1, 1, 1},
        Shape{2, 3, 5, 7}, Shape{1, 16, 8, 8}, Shape{4, 17, 3, 70}, Shape{32, 8, 14, 14}}) {
    table.cases.push_back({shape_name(shape), {}, {f32(shape)}});
  }
  table.specials = {
      {"channels_stay_apart",
       {},
       {{image(2, 2, 1, 2), {1, 2, 3, 4, 10, 20, kNan, 1}}},
       {{33, kNan}}},
      {"infinities", {}, {{image(1, 2, 1, 2), {kInf, -kInf, kInf, 1}}}, {{kNan, kInf}}},
  };
  return table;
}

}  // namespace stepscope::conformance
