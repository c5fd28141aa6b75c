// Cases of Cast and Reorder.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>

#include "tests/conformance/op_cases.h"
#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kUlpOfOne = 0x1p-23;

// Elements that fit every type they may be cast to.
Draw drawn_for(DType from, DType to) {
  if (from == DType::u8 || to == DType::u8)
    return is_floating(from) ? uniform(0.0, 255.9) : below(256);
  if (from == DType::i32) return below(std::int64_t{1} << 31);
  return is_floating(to) ? normal() : normal(1e6);
}

SpecialCase cast(std::string name, DType from, DType to, std::vector<double> elements,
                 std::vector<double> expected) {
  const auto size = static_cast<std::int64_t>(elements.size());
  return {std::move(name),
          CastAttrs{to},
          {{{{size}, from}, std::move(elements), nullptr}},
          {std::move(expected)}};
}

}  // namespace

OpCases cases_of_Cast() {
  // One rounding, or a truncation.
  OpCases table{Agreement::equal_bits, relative(1), {}, {}};
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::i32, DType::u8};
  for (const DType from : kTypes) {
    for (const DType to : kTypes) {
      for (const Shape& shape : {Shape{}, Shape{7}, Shape{65}, Shape{2, 3, 5, 7}}) {
        table.cases.push_back({fmt::format("{}_to_{}_{}", name(from), name(to), shape_name(shape)),
                               CastAttrs{to},
                               {{{shape, from}, drawn_for(from, to), {}, nullptr}}});
      }
    }
  }
  table.specials = {
      cast("f32_to_i32", DType::f32, DType::i32,
           {1.9, -1.9, 0.5, -0.5, -0.0, 16777216, 2147483520, -2147483648.0},
           {1, -1, 0, 0, 0, 16777216, 2147483520, -2147483648.0}),
      cast("f32_to_u8", DType::f32, DType::u8, {0, 0.99, 1, 127.5, 128, 254.9, 255, 255.5},
           {0, 0, 1, 127, 128, 254, 255, 255}),
      cast("i32_to_u8", DType::i32, DType::u8, {0, 127, 128, 255}, {0, 127, 128, 255}),
      cast("u8_to_i32", DType::u8, DType::i32, {0, 127, 128, 255}, {0, 127, 128, 255}),
      cast("u8_to_f32", DType::u8, DType::f32, {0, 127, 128, 255}, {0, 127, 128, 255}),
      // Rounded to nearest, to even in the middle.
      cast("i32_to_f32", DType::i32, DType::f32, {16777217, 16777219, -16777217, 2147483647, -7},
           {16777216, 16777220, -16777216, 2147483648.0, -7}),
      cast("f64_to_f32", DType::f64, DType::f32,
           {1 + kUlpOfOne / 2, 1 + 1.5 * kUlpOfOne, 1e300, -1e300, 1e-60, -1e-60, -0.0, kNan, kInf},
           {1, 1 + 2 * kUlpOfOne, kInf, -kInf, 0, -0.0, -0.0, kNan, kInf}),
      cast("f64_to_i32", DType::f64, DType::i32, {2147483647.0, -2147483648.0, 0.999999999, -2.5},
           {2147483647.0, -2147483648.0, 0, -2}),
      cast("i32_to_f64", DType::i32, DType::f64, {2147483647.0, -2147483648.0},
           {2147483647.0, -2147483648.0}),
      cast("f32_to_f64", DType::f32, DType::f64, {kNan, kInf, -kInf, -0.0, 0x1p-149},
           {kNan, kInf, -kInf, -0.0, 0x1p-149}),
      cast("f32_to_f32", DType::f32, DType::f32, {kNan, kInf, -kInf, -0.0, 0x1p-149},
           {kNan, kInf, -kInf, -0.0, 0x1p-149}),
  };
  return table;
}

// To the layout it has: a copy. Other layouts are a backend's own; layout_test.cpp asks for them.
OpCases cases_of_Reorder() {
  OpCases table{Agreement::equal_bits, relative(0), {}, {}};
  for (const Shape& shape : pointwise_shapes()) {
    table.cases.push_back({shape_name(shape), ReorderAttrs{}, {f32(shape)}});
  }
  table.specials = {{"bits_stay",
                     ReorderAttrs{},
                     {{{{5}, DType::f32}, {-0.0, kNan, kInf, -kInf, 0x1p-149}}},
                     {{-0.0, kNan, kInf, -kInf, 0x1p-149}}}};
  return table;
}

}  // namespace stepscope::conformance
