// Cases of Gather and ScatterAdd.
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

TensorType matrix(std::int64_t rows, std::int64_t columns) { return {{rows, columns}, DType::f32}; }
SpecialCase::Values indices(std::vector<double> of) {
  const auto size = static_cast<std::int64_t>(of.size());
  return {{{size}, DType::i32}, std::move(of), nullptr};
}

// Tables, and how many rows are taken from or added to each: fewer and more than there are.
struct Rows {
  Shape table;
  std::int64_t N;

  Shape taken() const {
    std::vector<std::int64_t> dims(table.dims().begin(), table.dims().end());
    dims.front() = N;
    return Shape(std::span<const std::int64_t>(dims));
  }
  std::string name() const { return fmt::format("{}_n{}", shape_name(table), N); }
};
std::span<const Rows> rows() {
  static const std::array<Rows, 10> all = {{{Shape{1, 1}, 1},
                                            {Shape{1}, 3},
                                            {Shape{10}, 7},
                                            {Shape{10, 3}, 1},
                                            {Shape{10, 3}, 64},
                                            {Shape{7, 17}, 5},
                                            {Shape{64, 65}, 17},
                                            {Shape{3, 2, 5}, 4},
                                            {Shape{100, 16}, 32},
                                            {Shape{5, 130}, 40}}};
  return all;
}

// How often a row is added to, less the first time, which adds to zero.
std::vector<double> scatter_bound(const Oracle& oracle, std::size_t output) {
  const std::vector<double> sizes = magnitudes(OpKind::ScatterAdd, oracle.attrs, oracle, {0, 1});
  const std::int64_t R = std::get<ScatterAddAttrs>(oracle.attrs).rows;
  const std::size_t inner = sizes.size() / static_cast<std::size_t>(R);
  std::vector<std::int64_t> times(static_cast<std::size_t>(R));
  for (const double row : oracle.in[1]) ++times[static_cast<std::size_t>(row)];
  return each_element(oracle, output,
                      [&](std::size_t i) { return gamma_of_sum(times[i / inner] - 1) * sizes[i]; });
}

}  // namespace

OpCases cases_of_Gather() {
  OpCases table{Agreement::equal_bits, relative(0), {}, {}};
  for (const Rows& each : rows()) {
    table.cases.push_back(
        {each.name(), {}, {f32(each.table), i32({each.N}, below(each.table[0]))}});
  }
  table.specials = {
      {"bits_stay",
       {},
       {{matrix(3, 2), {-0.0, 1, kNan, 2, kInf, -kInf}}, indices({2, 0, 1, 2})},
       {{kInf, -kInf, -0.0, 1, kNan, 2, kInf, -kInf}}},
      {"one_row_again_and_again", {}, {{matrix(2, 1), {1, 2}}, indices({1, 1, 1})}, {{2, 2, 2}}},
  };
  return table;
}

OpCases cases_of_ScatterAdd() {
  OpCases table{.bound = scatter_bound, .cases = {}, .specials = {}};
  for (const Rows& each : rows()) {
    table.cases.push_back({each.name(),
                           ScatterAddAttrs{each.table[0]},
                           {f32(each.taken()), i32({each.N}, below(each.table[0]))}});
  }
  table.specials = {
      {"adds_what_meets",
       ScatterAddAttrs{3},
       {{matrix(4, 1), {1, 2, 4, 8}}, indices({1, 0, 1, 1})},
       {{2, 13, 0}},
       Agreement::equal_bits},
      {"all_to_one_row",
       ScatterAddAttrs{2},
       {{matrix(3, 2), {1, 10, 2, 20, 4, 40}}, indices({1, 1, 1})},
       {{0, 0, 7, 70}},
       Agreement::equal_bits},
      // Zeros plus the updates: 0 + -0 = 0.
      {"minus_zero",
       ScatterAddAttrs{2},
       {{matrix(1, 2), {-0.0, 0.0}}, indices({1})},
       {{0, 0, 0, 0}},
       Agreement::equal_bits},
      {"nan_stays_in_its_place",
       ScatterAddAttrs{2},
       {{matrix(3, 2), {kNan, 1, kInf, 2, -kInf, kInf}}, indices({0, 1, 1})},
       {{kNan, 1, kNan, kInf}}},
  };
  return table;
}

}  // namespace stepscope::conformance
