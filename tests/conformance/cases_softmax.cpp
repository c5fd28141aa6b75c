// Cases of softmax with cross-entropy, its gradient, argmax and the count of correct rows.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

#include "ops/ir/labels.h"
#include "tests/conformance/op_cases.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TensorType matrix(std::int64_t rows, std::int64_t columns) { return {{rows, columns}, DType::f32}; }
TensorType labels(std::int64_t rows) { return {{rows}, DType::i32}; }

std::span<const Shape> logits_shapes() {
  static const std::array<Shape, 9> shapes = {Shape{1, 2},   Shape{3, 1},   Shape{2, 3},
                                              Shape{3, 10},  Shape{7, 17},  Shape{1, 64},
                                              Shape{64, 10}, Shape{65, 65}, Shape{512, 10}};
  return shapes;
}

// Labels of N rows of C classes that leave some rows out.
Operand labels_without(std::int64_t N, std::int64_t C,
                       const std::function<bool(std::int64_t n)>& out) {
  Operand operand{labels(N), nullptr, {}, nullptr};
  for (std::int64_t n = 0; n < N; ++n) {
    operand.elements.push_back(static_cast<double>(out(n) ? kLeftOut : n * 7 % C));
  }
  return operand;
}

// Rows left out at both ends, in between, and so that whole blocks of rows are.
void add_left_out(const Draw& draw, std::vector<OpCase>& cases) {
  const auto add = [&](std::string name, const Shape& shape,
                       const std::function<bool(std::int64_t n)>& out) {
    cases.push_back(
        {std::move(name), {}, {f32(shape, draw), labels_without(shape[0], shape[1], out)}});
  };
  add("first_left_out", {3, 10}, [](std::int64_t n) { return n == 0; });
  add("last_left_out", {7, 17}, [](std::int64_t n) { return n == 6; });
  add("all_but_one_left_out", {17, 3}, [](std::int64_t n) { return n != 9; });
  add("every_third_left_out", {64, 10}, [](std::int64_t n) { return n % 3 == 1; });
  add("padding_left_out", {65, 10}, [](std::int64_t n) { return n >= 29; });
}

std::vector<OpCase> cases_with_labels(const Draw& draw) {
  std::vector<OpCase> cases;
  for (const Shape& shape : logits_shapes()) {
    cases.push_back({shape_name(shape), {}, {f32(shape, draw), i32({shape[0]}, below(shape[1]))}});
  }
  add_left_out(draw, cases);
  return cases;
}

// With a scalar more, as third input.
std::vector<OpCase> with_scalar(std::vector<OpCase> cases, std::string_view suffix) {
  for (OpCase& each : cases) {
    each.name += suffix;
    each.in.push_back(f32(Shape{}, normal()));
  }
  return cases;
}

void append(std::vector<OpCase>& to, std::vector<OpCase> cases) {
  to.insert(to.end(), std::make_move_iterator(cases.begin()), std::make_move_iterator(cases.end()));
}

bool is_left_out(const Oracle& oracle, std::size_t n) {
  return left_out(static_cast<std::int32_t>(oracle.in[1][n]));
}

// Rows that the mean is over.
double rows_left(const Oracle& oracle) {
  double left = 0.0;
  for (std::size_t n = 0; n < oracle.in[1].size(); ++n) left += is_left_out(oracle, n) ? 0.0 : 1.0;
  return left;
}

// One row of logits: distance of each from the largest, and the logarithm of the sum of exp.
struct Row {
  const double* x;
  std::size_t C;
  double largest, spread, log_sum;

  Row(const std::vector<double>& logits, std::size_t n, std::size_t columns)
      : x(logits.data() + n * columns), C(columns) {
    const auto [low, high] = std::minmax_element(x, x + C);
    largest = *high;
    spread = *high - *low;
    double sum = 0.0;
    for (std::size_t c = 0; c < C; ++c) sum += std::exp(x[c] - largest);
    log_sum = std::log(sum);
  }
  double distance(std::size_t c) const { return largest - x[c]; }
  // Relative error of the sum: the rounded distances, the exp of each, C - 1 sums.
  double sum_error() const {
    return kUnitRoundoff * spread +
           gamma(kExpRoundings + std::max<std::int64_t>(1, static_cast<std::int64_t>(C) - 1));
  }
  // Of a probability: its own distance and exp, the sum, a reciprocal and a product.
  double probability_error(std::size_t c) const {
    return kUnitRoundoff * distance(c) + gamma(kExpRoundings + 2) + sum_error();
  }
  // Of the loss of a row, absolute, whether it is log(sum) + distance or -log(probability).
  double loss_error(std::size_t label) const {
    const double terms = std::abs(log_sum) + distance(label);
    return probability_error(label) + gamma(kLogRoundings + 2) * terms;
  }
};

std::vector<double> softmax_bound(const Oracle& oracle, std::size_t output) {
  const auto N = static_cast<std::size_t>(oracle.in_types[0].shape[0]);
  const auto C = static_cast<std::size_t>(oracle.in_types[0].shape[1]);
  if (output == 1) {
    return each_element(oracle, output, [&](std::size_t i) {
      return Row(oracle.in[0], i / C, C).probability_error(i % C) * oracle.out[1][i];
    });
  }
  double errors = 0.0;
  double losses = 0.0;
  for (std::size_t n = 0; n < N; ++n) {
    if (is_left_out(oracle, n)) continue;
    const auto label = static_cast<std::size_t>(oracle.in[1][n]);
    const Row row(oracle.in[0], n, C);
    errors += row.loss_error(label);
    losses += row.log_sum + row.distance(label);
  }
  // Up to N losses are summed and divided; the mean may be a product with a reciprocal.
  const double mean = gamma(static_cast<std::int64_t>(N) + 1) * (losses + errors);
  return {(errors + mean) / rows_left(oracle)};
}

// (p - hot) / left * d_loss: difference, reciprocal, two products. Nothing rounds a row left out.
std::vector<double> softmax_grad_bound(const Oracle& oracle, std::size_t output) {
  const auto C = static_cast<std::size_t>(oracle.in_types[0].shape[1]);
  const double left = rows_left(oracle);
  const double d_loss = oracle.in.size() == 3 ? std::abs(oracle.in[2][0]) : 1.0;
  return each_element(oracle, output, [&](std::size_t i) {
    if (is_left_out(oracle, i / C)) return 0.0;
    const double hot = oracle.in[1][i / C] == static_cast<double>(i % C) ? 1.0 : 0.0;
    return gamma(4) * (std::abs(oracle.in[0][i]) + hot) / left * d_loss;
  });
}

// (p - hot) / left * rate, with p off by what a probability is.
std::vector<double> softmax_with_grad_bound(const Oracle& oracle, std::size_t output) {
  if (output == 0) return softmax_bound(oracle, 0);
  const auto C = static_cast<std::size_t>(oracle.in_types[0].shape[1]);
  const double left = rows_left(oracle);
  const double rate = oracle.in.size() == 3 ? std::abs(oracle.in[2][0]) : 1.0;
  return each_element(oracle, output, [&](std::size_t i) {
    if (is_left_out(oracle, i / C)) return 0.0;
    const Row row(oracle.in[0], i / C, C);
    const double p = std::exp(-(row.distance(i % C) + row.log_sum));
    const double hot = oracle.in[1][i / C] == static_cast<double>(i % C) ? 1.0 : 0.0;
    return (row.probability_error(i % C) * p + gamma(4) * (p + hot)) / left * rate;
  });
}

}  // namespace

OpCases cases_of_SoftmaxCrossEntropy() {
  OpCases table{.bound = softmax_bound,
                .cases = cases_with_labels(normal(3.0)),
                .specials = {},
                .gradient_through = 0b01};
  const double third = 1.0 / 3.0;
  const auto row = [&](std::string name, std::vector<double> logits, int label, double loss,
                       std::vector<double> probabilities) {
    const auto C = static_cast<std::int64_t>(logits.size());
    table.specials.push_back(
        {std::move(name),
         {},
         {{matrix(1, C), std::move(logits)}, {labels(1), {static_cast<double>(label)}}},
         {{loss}, std::move(probabilities)}});
  };
  row("all_equal_first_label", {4, 4, 4}, 0, std::log(3.0), {third, third, third});
  row("all_equal_last_label", {-4, -4, -4}, 2, std::log(3.0), {third, third, third});
  row("zeros_of_both_signs", {0.0, -0.0}, 1, std::log(2.0), {0.5, 0.5});
  row("far_apart_right", {1000, 0}, 0, 0.0, {1, 0});
  row("far_apart_wrong", {1000, 0}, 1, 1000.0, {1, 0});
  row("one_minus_inf", {0, -kInf, 0}, 0, std::log(2.0), {0.5, 0, 0.5});
  row("label_at_minus_inf", {0, -kInf, 0}, 1, kInf, {0.5, 0, 0.5});
  row("one_plus_inf", {0, kInf, 0}, 1, kNan, {kNan, kNan, kNan});
  row("all_minus_inf", {-kInf, -kInf, -kInf}, 0, kNan, {kNan, kNan, kNan});
  row("one_nan", {0, 1, kNan}, 0, kNan, {kNan, kNan, kNan});
  row("nan_first", {kNan, 1, 0}, 1, kNan, {kNan, kNan, kNan});
  // A bad row spoils the mean, and no probabilities but its own.
  table.specials.push_back({"second_row_nan",
                            {},
                            {{matrix(2, 2), {1, 1, kNan, 0}}, {labels(2), {0, 1}}},
                            {{kNan}, {0.5, 0.5, kNan, kNan}}});
  const auto second = [&](std::string name, double first_logit, double label, double loss,
                          std::vector<double> probabilities) {
    table.specials.push_back({std::move(name),
                              {},
                              {{matrix(2, 2), {1, 1, first_logit, 0}}, {labels(2), {label, -1}}},
                              {{loss}, std::move(probabilities)}});
  };
  second("left_out", 0, 0, std::log(2.0), {0.5, 0.5, 0.5, 0.5});
  second("left_out_nan", kNan, 0, std::log(2.0), {0.5, 0.5, kNan, kNan});
  second("left_out_plus_inf", kInf, 1, std::log(2.0), {0.5, 0.5, kNan, kNan});
  second("left_out_minus_inf", -kInf, 1, std::log(2.0), {0.5, 0.5, 0, 1});
  second("all_left_out", 0, -1, kNan, {0.5, 0.5, 0.5, 0.5});
  return table;
}

OpCases cases_of_SoftmaxCrossEntropyGrad() {
  OpCases table{Agreement::bounded, softmax_grad_bound, cases_with_labels(uniform(0.0, 1.0)), {}};
  append(table.cases, with_scalar(table.cases, "_d_loss"));
  const SpecialCase::Values certain{matrix(2, 2), {1, 0, 0, 1}};
  const SpecialCase::Values ends{labels(2), {0, 1}};
  table.specials = {
      {"certain_and_right", {}, {certain, ends}, {{0, 0, 0, 0}}},
      {"certain_and_wrong", {}, {certain, {labels(2), {1, 0}}}, {{0.5, -0.5, -0.5, 0.5}}},
      {"nan_stays_alone", {}, {{matrix(2, 2), {kNan, 0, 0, 1}}, ends}, {{kNan, 0, 0, 0}}},
      {"d_loss_nan",
       {},
       {certain, ends, {{Shape{}, DType::f32}, {kNan}}},
       {{kNan, kNan, kNan, kNan}}},
      {"d_loss_zero",
       {},
       {{matrix(2, 2), {0.5, 0.5, 0.5, 0.5}}, ends, {{Shape{}, DType::f32}, {0}}},
       {{0, 0, 0, 0}}},
      {"left_out", {}, {certain, {labels(2), {1, -1}}}, {{1, -1, 0, 0}}},
      {"left_out_nan",
       {},
       {{matrix(2, 2), {kNan, kNan, 0.5, 0.5}}, {labels(2), {-1, 0}}},
       {{0, 0, -0.5, 0.5}}},
      {"left_out_d_loss_nan",
       {},
       {certain, {labels(2), {-1, 1}}, {{Shape{}, DType::f32}, {kNan}}},
       {{0, 0, kNan, kNan}}},
      {"all_left_out",
       {},
       {{matrix(2, 2), {kNan, kInf, 1, 0}}, {labels(2), {-1, -1}}},
       {{0, 0, 0, 0}}},
      {"all_left_out_d_loss_zero",
       {},
       {certain, {labels(2), {-1, -1}}, {{Shape{}, DType::f32}, {0}}},
       {{0, 0, 0, 0}}},
  };
  return table;
}

OpCases cases_of_SoftmaxCrossEntropyWithGrad() {
  OpCases table{
      .bound = softmax_with_grad_bound, .cases = cases_with_labels(normal(3.0)), .specials = {}};
  append(table.cases, with_scalar(table.cases, "_rate"));
  const double third = 1.0 / 3.0;
  const SpecialCase::Values equals{matrix(1, 3), {4, 4, 4}, nullptr};
  const auto label = [](double at) { return SpecialCase::Values{labels(1), {at}, nullptr}; };
  const auto rate = [](double by) {
    return SpecialCase::Values{{Shape{}, DType::f32}, {by}, nullptr};
  };
  table.specials = {
      {"all_equal", {}, {equals, label(1)}, {{std::log(3.0)}, {third, third - 1, third}}},
      {"rate_counts_in_the_gradient_alone",
       {},
       {equals, label(1), rate(0.5)},
       {{std::log(3.0)}, {third / 2, (third - 1) / 2, third / 2}}},
      {"rate_zero", {}, {equals, label(0), rate(0)}, {{std::log(3.0)}, {0, 0, 0}}},
      {"rate_nan", {}, {equals, label(0), rate(kNan)}, {{std::log(3.0)}, {kNan, kNan, kNan}}},
      {"far_apart_right", {}, {{matrix(1, 2), {1000, 0}}, label(0)}, {{0}, {0, 0}}},
      {"far_apart_wrong", {}, {{matrix(1, 2), {1000, 0}}, label(1)}, {{1000}, {1, -1}}},
      {"label_at_minus_inf",
       {},
       {{matrix(1, 3), {0, -kInf, 0}}, label(1)},
       {{kInf}, {0.5, -1, 0.5}}},
      {"one_plus_inf", {}, {{matrix(1, 2), {0, kInf}}, label(1)}, {{kNan}, {kNan, kNan}}},
      {"all_minus_inf", {}, {{matrix(1, 2), {-kInf, -kInf}}, label(0)}, {{kNan}, {kNan, kNan}}},
      {"second_row_nan",
       {},
       {{matrix(2, 2), {1, 1, kNan, 0}}, {labels(2), {0, 1}}},
       {{kNan}, {-0.25, 0.25, kNan, kNan}}},
      {"left_out",
       {},
       {{matrix(2, 2), {1, 1, 5, 0}}, {labels(2), {0, -1}}},
       {{std::log(2.0)}, {-0.5, 0.5, 0, 0}}},
      {"left_out_nan_and_inf",
       {},
       {{matrix(3, 2), {kNan, 0, 1, 1, kInf, 0}}, {labels(3), {-1, 1, -1}}, rate(2)},
       {{std::log(2.0)}, {0, 0, 1, -1, 0, 0}}},
      {"left_out_rate_nan",
       {},
       {{matrix(2, 2), {1, 1, 1, 1}}, {labels(2), {-1, 1}}, rate(kNan)},
       {{std::log(2.0)}, {0, 0, kNan, kNan}}},
      {"all_left_out",
       {},
       {{matrix(2, 2), {1, kNan, 0, 2}}, {labels(2), {-1, -1}}, rate(0.5)},
       {{kNan}, {0, 0, 0, 0}}},
  };
  return table;
}

OpCases cases_of_Argmax() {
  OpCases table{Agreement::equal_bits, relative(0), {}, {}};
  for (const Shape& shape : logits_shapes()) {
    table.cases.push_back({shape_name(shape), {}, {f32(shape, coarse())}});
  }
  table.specials = {
      {"first_of_equals", {}, {{matrix(3, 3), {2, 2, 2, 1, 2, 2, -1, -2, -1}}}, {{0, 1, 0}}},
      {"zeros_are_equal", {}, {{matrix(2, 2), {-0.0, 0.0, 0.0, -0.0}}}, {{0, 0}}},
      {"nan_is_largest",
       {},
       {{matrix(3, 3), {1, kNan, kInf, kNan, kNan, 1, kInf, 1, kNan}}},
       {{1, 0, 2}}},
      {"infinities",
       {},
       {{matrix(3, 3), {-kInf, -kInf, -kInf, 1, kInf, kInf, -kInf, 1, -kInf}}},
       {{0, 1, 1}}},
  };
  return table;
}

OpCases cases_of_CorrectCount() {
  return {
      Agreement::equal_bits,
      relative(0),
      cases_with_labels(coarse()),
      {{"first_and_last_label",
        {},
        {{matrix(3, 3), {5, 1, 1, 1, 1, 5, 5, 1, 1}}, {labels(3), {0, 2, 2}}},
        {{2}}},
       {"ties_count_for_the_first", {}, {{matrix(2, 2), {1, 1, 1, 1}}, {labels(2), {0, 1}}}, {{1}}},
       {"nan_is_largest", {}, {{matrix(2, 2), {1, kNan, kInf, kNan}}, {labels(2), {1, 0}}}, {{1}}},
       {"all_minus_inf", {}, {{matrix(1, 2), {-kInf, -kInf}}, {labels(1), {0}}}, {{1}}},
       {"left_out", {}, {{matrix(3, 2), {5, 1, 1, 5, kNan, 1}}, {labels(3), {-1, 1, -1}}}, {{1}}},
       {"all_left_out", {}, {{matrix(2, 1), {1, 2}}, {labels(2), {-1, -1}}}, {{0}}}}};
}

}  // namespace stepscope::conformance
