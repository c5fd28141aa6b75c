// Cases of pools and their gradients.
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

TensorType image(std::int64_t H, std::int64_t W) { return {{1, 1, H, W}, DType::f32}; }

std::int64_t rounded_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// How many windows may lie over a place.
std::int64_t windows_over_a_place(const Pool2dGradAttrs& window) {
  return rounded_up(window.kernel_h, window.stride_h) *
         rounded_up(window.kernel_w, window.stride_w);
}

// The sum of |dy| over all windows over a place: at least what those bring that it won.
std::vector<double> slopes_over(const Oracle& oracle) {
  const auto& window = std::get<Pool2dGradAttrs>(oracle.attrs);
  std::vector<double> sizes = magnitudes(OpKind::AvgPoolGrad, window, oracle, {0});
  for (double& size : sizes) size *= static_cast<double>(window.kernel_h * window.kernel_w);
  return sizes;
}

std::vector<double> max_grad_bound(const Oracle& oracle, std::size_t output) {
  const auto& window = std::get<Pool2dGradAttrs>(oracle.attrs);
  const std::vector<double> sizes = slopes_over(oracle);
  const double share = gamma_of_sum(windows_over_a_place(window) - 1);
  return each_element(oracle, output, [&](std::size_t i) { return share * sizes[i]; });
}

// The sums, then a quotient, or a reciprocal and a product.
std::vector<double> average_bound(const Oracle& oracle, std::size_t output) {
  const auto& window = std::get<Pool2dAttrs>(oracle.attrs);
  const std::vector<double> sizes = magnitudes(OpKind::AvgPool, oracle.attrs, oracle, {0});
  const double share = gamma(window.kernel_h * window.kernel_w - 1 + 2);
  return each_element(oracle, output, [&](std::size_t i) { return share * sizes[i]; });
}

std::vector<double> average_grad_bound(const Oracle& oracle, std::size_t output) {
  const auto& window = std::get<Pool2dGradAttrs>(oracle.attrs);
  const std::vector<double> sizes = magnitudes(OpKind::AvgPoolGrad, oracle.attrs, oracle, {0});
  const double share = gamma(windows_over_a_place(window) - 1 + 2);
  return each_element(oracle, output, [&](std::size_t i) { return share * sizes[i]; });
}

// What MaxPool saves for an image: drawn, or written by hand.
Operand winners(const PoolShape& shape, Draw draw) {
  return made_by(OpKind::MaxPool, {shape.name(), shape.window, {f32(shape.x(), std::move(draw))}},
                 1);
}
SpecialCase::Values winners(const Pool2dAttrs& window, const TensorType& type,
                            std::vector<double> elements) {
  const Operand made = made_by(
      OpKind::MaxPool, {"special", window, {{type, nullptr, std::move(elements), nullptr}}}, 1);
  return {made.type, {}, made.source};
}

constexpr Pool2dAttrs kPair{1, 2, 1, 2, 0, 0};    // two neighbours in a row
constexpr Pool2dAttrs kSlide{1, 2, 1, 1, 0, 0};   // the same, overlapping
constexpr Pool2dAttrs kPadded{2, 2, 1, 1, 1, 1};  // four windows around one place

// One window of 2x2 over x: the gradient 3 goes to one place.
SpecialCase one_window(std::string name, std::vector<double> x, std::size_t won) {
  const Pool2dAttrs window{};
  std::vector<double> dx(4, 0.0);
  dx[won] = 3.0;
  return {std::move(name),
          pool_backward(window, 2, 2),
          {{image(1, 1), {3}}, winners(window, image(2, 2), std::move(x))},
          {std::move(dx)},
          Agreement::equal_bits};
}

// Who wins.
std::vector<SpecialCase> winner_specials() {
  return {
      one_window("first_of_equals", {5, 5, 5, 5}, 0),
      one_window("first_of_the_largest", {1, 2, 2, 2}, 1),
      one_window("zeros_are_equal", {-0.0, 0.0, 0.0, -0.0}, 0),
      one_window("nan_is_largest", {1, kInf, kNan, 2}, 2),
      one_window("first_nan", {1, kNan, kInf, kNan}, 1),
      one_window("nan_in_front", {kNan, kInf, 1, kNan}, 0),
      one_window("all_minus_inf", {-kInf, -kInf, -kInf, -kInf}, 0),
      one_window("last", {-4, -3, -2, -1}, 3),
  };
}

}  // namespace

OpCases cases_of_MaxPool() {
  OpCases table{Agreement::equal_bits, relative(0), {}, {}};
  for (const PoolShape& shape : pool_shapes()) {
    table.cases.push_back({shape.name(), shape.window, {f32(shape.x(), spaced())}});
    table.cases.push_back(
        {shape.name() + "_ties", shape.window, {f32(shape.x(), coarse())}, false});
  }
  table.specials = {
      {"nan_is_largest",
       Pool2dAttrs{},
       {{image(2, 6), {1, kNan, kInf, 3, 2, 0, 2, 0, kNan, 0, 1, -1}}},
       {{kNan, kNan, 2}, {}}},
      {"infinities",
       Pool2dAttrs{},
       {{image(2, 6), {-kInf, -kInf, kInf, 1, -kInf, 1, -kInf, -kInf, -kInf, 2, -kInf, -kInf}}},
       {{-kInf, kInf, 1}, {}}},
      {"zeros_are_equal", kPair, {{image(1, 4), {-0.0, 0.0, 0.0, -0.0}}}, {{-0.0, 0.0}, {}}},
      {"padding_never_wins", kPadded, {{image(1, 1), {-5}}}, {{-5, -5, -5, -5}, {}}},
      {"padding_never_wins_over_minus_inf",
       kPadded,
       {{image(1, 1), {-kInf}}},
       {{-kInf, -kInf, -kInf, -kInf}, {}}},
      {"left_over", kPair, {{image(1, 5), {1, 2, 4, 3, 9}}}, {{2, 4}, {}}},
  };
  return table;
}

OpCases cases_of_MaxPoolGrad() {
  OpCases table{.bound = max_grad_bound, .cases = {}, .specials = {}};
  for (const PoolShape& shape : pool_shapes()) {
    table.cases.push_back(
        {shape.name(), shape.backward(), {f32(shape.y()), winners(shape, normal())}});
    table.cases.push_back(
        {shape.name() + "_ties", shape.backward(), {f32(shape.y()), winners(shape, coarse())}});
  }
  table.specials = winner_specials();
  table.specials.insert(
      table.specials.end(),
      {
          {"sums_where_windows_overlap",
           pool_backward(kSlide, 1, 3),
           {{image(1, 2), {10, 100}}, winners(kSlide, image(1, 3), {1, 3, 2})},
           {{0, 110, 0}},
           Agreement::equal_bits},
          {"padding_gets_nothing",
           pool_backward(kPadded, 1, 1),
           {{image(2, 2), {1, 2, 3, 4}}, winners(kPadded, image(1, 1), {-5})},
           {{10}},
           Agreement::equal_bits},
          {"left_over_gets_nothing",
           pool_backward(kPair, 1, 5),
           {{image(1, 2), {1, 2}}, winners(kPair, image(1, 5), {1, 2, 4, 3, 9})},
           {{0, 1, 2, 0, 0}},
           Agreement::equal_bits},
          // A selection, not a product with zeros.
          {"nan_and_inf_go_to_the_winner",
           pool_backward(kPair, 1, 4),
           {{image(1, 2), {kNan, kInf}}, winners(kPair, image(1, 4), {1, 2, 4, 3})},
           {{0, kNan, kInf, 0}},
           Agreement::equal_bits},
      });
  return table;
}

// Inputs (dy, saved, y): where y lets dy through.
OpCases cases_of_MaxPoolReluGrad() {
  OpCases table{.bound = max_grad_bound, .cases = {}, .specials = {}};
  for (const PoolShape& shape : pool_shapes()) {
    table.cases.push_back({shape.name(),
                           shape.backward(),
                           {f32(shape.y()), winners(shape, coarse()), f32(shape.y(), coarse())}});
  }
  table.specials = {
      {"y_at_kinks",
       pool_backward(kPair, 1, 12),
       {{image(1, 6), {1, 2, 3, 4, 5, 6}},
        winners(kPair, image(1, 12), {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}),
        {image(1, 6), {0.0, -0.0, kNan, kInf, -kInf, 0.5}}},
       {{0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 6}},
       Agreement::equal_bits},
      {"stopped_nan",
       pool_backward(kPair, 1, 4),
       {{image(1, 2), {kNan, kNan}},
        winners(kPair, image(1, 4), {2, 1, 4, 3}),
        {image(1, 2), {0.0, 1.0}}},
       {{0, 0, kNan, 0}},
       Agreement::equal_bits},
      {"sums_where_windows_overlap",
       pool_backward(kSlide, 1, 4),
       {{image(1, 3), {10, 100, 1000}},
        winners(kSlide, image(1, 4), {1, 3, 2, 4}),
        {image(1, 3), {1, 1, 0}}},
       {{0, 110, 0, 0}},
       Agreement::equal_bits},
  };
  return table;
}

OpCases cases_of_AvgPool() {
  OpCases table{.bound = average_bound, .cases = {}, .specials = {}};
  for (const PoolShape& shape : pool_shapes()) {
    table.cases.push_back({shape.name(), shape.window, {f32(shape.x())}});
  }
  table.specials = {
      {"mean", Pool2dAttrs{}, {{image(2, 2), {1, 2, 3, 6}}}, {{3}}},
      {"padding_counts", kPadded, {{image(1, 1), {8}}}, {{2, 2, 2, 2}}},
      {"nan_stays_in_its_window",
       kPair,
       {{image(1, 6), {kNan, 1, 2, 4, kInf, -kInf}}},
       {{kNan, 3, kNan}}},
      {"left_over", kPair, {{image(1, 3), {2, 4, kNan}}}, {{3}}},
  };
  return table;
}

OpCases cases_of_AvgPoolGrad() {
  OpCases table{.bound = average_grad_bound, .cases = {}, .specials = {}};
  for (const PoolShape& shape : pool_shapes()) {
    table.cases.push_back({shape.name(), shape.backward(), {f32(shape.y())}});
  }
  table.specials = {
      {"in_equal_parts", pool_backward({}, 2, 2), {{image(1, 1), {4}}}, {{1, 1, 1, 1}}},
      {"sums_where_windows_overlap",
       pool_backward(kSlide, 1, 3),
       {{image(1, 2), {2, 4}}},
       {{1, 3, 2}}},
      {"padding_takes_its_part",
       pool_backward(kPadded, 1, 1),
       {{image(2, 2), {4, 4, 4, 4}}},
       {{4}}},
      {"nan_stays_in_its_window",
       pool_backward(kPair, 1, 5),
       {{image(1, 2), {kNan, 2}}},
       {{kNan, kNan, 1, 1, 0}}},
  };
  return table;
}

}  // namespace stepscope::conformance
