// Types, shapes, phases and short lists.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/types.h"

#include <gtest/gtest.h>

#include "ops/base/fixed_list.h"
#include "ops/ir/phase.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

std::string error_with(const TensorType& type) {
  return error_of([&] { check_type(type, "x"); });
}

TEST(DTypes, NamesAndBytes) {
  const std::vector<std::tuple<DType, std::string, std::size_t, bool>> expected = {
      {DType::f64, "f64", 8, true}, {DType::f32, "f32", 4, true},  {DType::bf16, "bf16", 2, true},
      {DType::f16, "f16", 2, true}, {DType::i32, "i32", 4, false}, {DType::u8, "u8", 1, false}};
  for (const auto& [dtype, text, bytes, floating] : expected) {
    EXPECT_EQ(name(dtype), text);
    EXPECT_EQ(bytes_per_element(dtype), bytes) << text;
    EXPECT_EQ(is_floating(dtype), floating) << text;
  }
}

TEST(Shapes, DimensionsAndElements) {
  const Shape scalar;
  EXPECT_EQ(scalar.rank(), 0U);
  EXPECT_EQ(scalar.elements(), 1);
  const Shape images{32, 3, 24, 24};
  EXPECT_EQ(images.rank(), 4U);
  EXPECT_EQ(images[1], 3);
  EXPECT_EQ(images.elements(), 32 * 3 * 24 * 24);
  EXPECT_EQ(images, Shape(images.dims()));
  EXPECT_NE(images, (Shape{32, 3, 24}));
  EXPECT_NE((Shape{2}), (Shape{2, 1})) << "rank counts";
}

TEST(Shapes, AtMostSixDimensions) {
  EXPECT_EQ((Shape{1, 2, 3, 4, 5, 6}).elements(), 720);
  EXPECT_EQ(error_of([] { (void)Shape{1, 2, 3, 4, 5, 6, 7}; }),
            "bad graph: shape has 7 dimensions, at most 6 are allowed");
}

TEST(TensorTypes, TextAndBytes) {
  EXPECT_EQ(to_string(TensorType{{32, 784}, DType::f32}), "f32{32, 784}");
  EXPECT_EQ(to_string(TensorType{{}, DType::i32}), "i32{}");
  EXPECT_EQ((TensorType{{32, 784}, DType::f32}).bytes(), 100'352U);
  EXPECT_EQ((TensorType{{}, DType::f64}).bytes(), 8U);
  EXPECT_NE((TensorType{{2}, DType::f32}), (TensorType{{2}, DType::i32}));
}

TEST(TensorTypes, RefusesWhatIsNoSize) {
  EXPECT_EQ(error_with({{2, 0}, DType::f32}),
            "bad graph: x: dimension 1 of f32{2, 0} is below one");
  EXPECT_EQ(error_with({{-3}, DType::f32}), "bad graph: x: dimension 0 of f32{-3} is below one");
  EXPECT_EQ(error_with({{}, DType::f32}), "no error");
}

// 2^45 elements of four bytes are the most; above that, sums of sizes could overflow.
TEST(TensorTypes, RefusesWhatOverflows) {
  constexpr std::int64_t kMost = std::int64_t{1} << 45;
  EXPECT_EQ(error_with({{kMost}, DType::f32}), "no error");
  EXPECT_EQ(error_with({{kMost * 4}, DType::u8}), "no error");
  EXPECT_EQ(error_with({{kMost + 1}, DType::f32}),
            "bad graph: x: f32{35184372088833} has more than 2^47 bytes");
  EXPECT_EQ(error_with({{kMost, 2}, DType::f32}),
            "bad graph: x: f32{35184372088832, 2} has more than 2^47 bytes");
  // The product of these is 2^64: zero, if it were multiplied out.
  EXPECT_EQ(error_with({{std::int64_t{1} << 32, std::int64_t{1} << 32}, DType::u8}),
            "bad graph: x: u8{4294967296, 4294967296} has more than 2^47 bytes");
}

TEST(Phases, SetsAndText) {
  const PhaseSet both = PhaseSet(Phase::update) | Phase::backward;
  EXPECT_TRUE(both.contains(Phase::backward));
  EXPECT_TRUE(both.contains(Phase::update));
  EXPECT_FALSE(both.contains(Phase::forward));
  EXPECT_EQ(to_string(both), "backward+update") << "in order of the step";
  EXPECT_EQ(to_string(PhaseSet()), "");
  EXPECT_EQ(PhaseSet::from_bits(both.bits()), both);
  PhaseSet all;
  for (const Phase phase : kPhases) all = all | phase;
  EXPECT_EQ(to_string(all), "input_copy+forward+loss+backward+update+readback");
}

TEST(FixedLists, HoldAtMostTheirRoom) {
  FixedList<int, 3> list = {1, 2};
  list.push_back(3);
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(list[2], 3);
  EXPECT_EQ(error_of([&] { list.push_back(4); }), "bad graph: list of at most 3 items is full");
  FixedList<int, 3> shorter = {1, 2};
  EXPECT_FALSE(list == shorter);
  shorter.push_back(3);
  EXPECT_TRUE(list == shorter);
  list.clear();
  EXPECT_TRUE(list.empty());
}

TEST(Faults, HaveNames) {
  EXPECT_EQ(name(Fault::bad_graph), "bad graph");
  EXPECT_EQ(name(Fault::bad_input), "bad input");
  EXPECT_EQ(name(Fault::unsupported), "unsupported");
  EXPECT_EQ(name(Fault::device), "device");
  EXPECT_EQ(name(Fault::io), "io");
}

}  // namespace
}  // namespace stepscope
