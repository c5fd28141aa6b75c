// Cases of ReduceSum and Broadcast.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/conformance/op_cases.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// D terms pass through D - 1 sums at most, and one rounding where the sum was kept wider.
std::vector<double> reduce_bound(const Oracle& oracle, std::size_t output) {
  const auto axis = static_cast<std::size_t>(std::get<ReduceAttrs>(oracle.attrs).axis);
  const Shape& shape = oracle.in_types[0].shape;
  const auto D = static_cast<std::size_t>(shape[axis]);
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.rank(); ++i) inner *= static_cast<std::size_t>(shape[i]);
  return each_element(oracle, output, [&](std::size_t i) {
    double sum = 0.0;
    for (std::size_t d = 0; d < D; ++d) {
      sum += std::abs(oracle.in[0][(i / inner * D + d) * inner + i % inner]);
    }
    return gamma(std::max<std::int64_t>(1, shape[axis] - 1)) * sum;
  });
}

TensorType matrix(std::int64_t rows, std::int64_t columns) { return {{rows, columns}, DType::f32}; }

}  // namespace

OpCases cases_of_ReduceSum() {
  OpCases table{.bound = reduce_bound, .cases = {}, .specials = {}};
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{65}, Shape{1, 1}, Shape{2, 3}, Shape{7, 17},
                             Shape{17, 64}, Shape{65, 7}, Shape{64, 65}, Shape{3, 2, 7},
                             Shape{2, 3, 5, 7}, Shape{32, 128}, Shape{784, 10}}) {
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      table.cases.push_back({fmt::format("{}_axis{}", shape_name(shape), axis),
                             ReduceAttrs{static_cast<std::int64_t>(axis)},
                             {f32(shape)}});
    }
  }
  table.specials = {
      {"over_rows",
       ReduceAttrs{0},
       {{matrix(2, 4), {kNan, kInf, kInf, -0.0, 1.0, -kInf, 1.0, 0.0}}},
       {{kNan, kNan, kInf, 0.0}}},
      {"over_columns",
       ReduceAttrs{1},
       {{matrix(3, 2), {kNan, 1.0, kInf, -kInf, -kInf, 1.0}}},
       {{kNan, kNan, -kInf}}},
  };
  return table;
}

OpCases cases_of_Broadcast() {
  OpCases table{Agreement::equal_bits, relative(0), {}, {}};
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{65}, Shape{2, 3}, Shape{17, 64},
                             Shape{3, 2, 7}, Shape{2, 3, 5, 7}}) {
    for (std::size_t axis = 0; axis <= shape.rank(); ++axis) {
      for (const std::int64_t size : {1, 3, 17}) {
        table.cases.push_back({fmt::format("{}_axis{}_size{}", shape_name(shape), axis, size),
                               BroadcastAttrs{static_cast<std::int64_t>(axis), size},
                               {f32(shape)}});
      }
    }
  }
  const TensorType four{{4}, DType::f32};
  table.specials = {
      {"as_rows",
       BroadcastAttrs{0, 2},
       {{four, {-0.0, kNan, kInf, -kInf}}},
       {{-0.0, kNan, kInf, -kInf, -0.0, kNan, kInf, -kInf}}},
      {"as_columns",
       BroadcastAttrs{1, 2},
       {{four, {-0.0, kNan, kInf, -kInf}}},
       {{-0.0, -0.0, kNan, kNan, kInf, kInf, -kInf, -kInf}}},
  };
  return table;
}

}  // namespace stepscope::conformance
