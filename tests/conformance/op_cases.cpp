// The table, made from the op list, and the vocabulary of its cases.
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/op_cases.h"

#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "ops/ir/op_def.h"

namespace stepscope::conformance {

#define STEPSCOPE_OP(name) OpCases cases_of_##name();
#include "ops/ir/op_list.inc"
#undef STEPSCOPE_OP

const std::vector<OpEntry>& all_ops() {
  static const std::vector<OpEntry> entries = {
#define STEPSCOPE_OP(name) {OpKind::name, #name, cases_of_##name()},
#include "ops/ir/op_list.inc"
#undef STEPSCOPE_OP
  };
  return entries;
}

const OpEntry& entry_of(OpKind kind) { return all_ops()[static_cast<std::size_t>(kind)]; }

Draw normal(double deviation) {
  return [deviation](Philox& random) { return deviation * random.normal(); };
}

Draw away_from_zero() {
  return [](Philox& random) {
    const double x = random.normal();
    return std::copysign(0.1 + std::abs(x), x);
  };
}

Draw uniform(double low, double high) {
  return [low, high](Philox& random) { return random.uniform(low, high); };
}

Draw coarse() {
  return [](Philox& random) { return std::round(2.0 * random.normal()) / 2.0; };
}

Draw spaced() {
  return [](Philox& random) {
    constexpr std::uint64_t kMany = 1U << 16;
    return (static_cast<double>(random.below(kMany)) - static_cast<double>(kMany / 2)) / 4.0;
  };
}

Draw below(std::int64_t bound) {
  return [bound](Philox& random) {
    return static_cast<double>(random.below(static_cast<std::uint64_t>(bound)));
  };
}

Draw constant(double value) {
  return [value](Philox&) { return value; };
}

Operand f32(const Shape& shape, Draw draw) {
  return {{shape, DType::f32}, std::move(draw), {}, nullptr};
}
Operand i32(const Shape& shape, Draw draw) {
  return {{shape, DType::i32}, std::move(draw), {}, nullptr};
}

Operand made_by(OpKind kind, OpCase op_case, std::size_t output) {
  std::vector<TensorType> in;
  in.reserve(op_case.in.size());
  for (const Operand& operand : op_case.in) in.push_back(operand.type);
  TypeList out;
  op_def(kind).infer(in, op_case.attrs, out);
  return {out[output],
          nullptr,
          {},
          std::make_shared<const Source>(Source{kind, std::move(op_case), output})};
}

OpCase as_case(const SpecialCase& special) {
  OpCase made{special.name, special.attrs, {}};
  made.in.reserve(special.in.size());
  for (const SpecialCase::Values& values : special.in) {
    made.in.push_back({values.type, nullptr, values.elements, values.source});
  }
  return made;
}

std::string shape_name(const Shape& shape) {
  return shape.rank() == 0 ? "scalar" : fmt::format("{}", fmt::join(shape.dims(), "x"));
}

std::span<const Shape> pointwise_shapes() {
  static const std::array<Shape, 11> shapes = {
      Shape{},   Shape{1},  Shape{2},     Shape{3},          Shape{7},      Shape{17},
      Shape{64}, Shape{65}, Shape{7, 17}, Shape{2, 3, 5, 7}, Shape{32, 128}};
  return shapes;
}

}  // namespace stepscope::conformance
