// Sizes and their overflow, and elements of every type as f64.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/host_tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/bench/files/bytes.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::error_of;

using Shape64 = std::vector<std::int64_t>;

template <class T>
HostTensor tensor_of(Element element, const std::vector<T>& list) {
  const auto bytes = std::as_bytes(std::span(list));
  return {.name = "t",
          .element = element,
          .shape = {static_cast<std::int64_t>(list.size())},
          .bytes = {bytes.begin(), bytes.end()}};
}

TEST(HostTensor, SizesStopAtTheirOverflow) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 32;
  EXPECT_EQ(elements(Shape64{}), 1);
  EXPECT_EQ(elements(Shape64{2, 3, 4}), 24);
  EXPECT_EQ(elements(Shape64{kHalf, kHalf}), std::nullopt);
  EXPECT_EQ(elements(Shape64{kHalf, kHalf, 0}), 0);
  EXPECT_EQ(elements(Shape64{3, -1}), std::nullopt);
  EXPECT_EQ(bytes_of(Shape64{2, 3}, Element::f64), 48U);
  EXPECT_EQ(bytes_of(Shape64{std::numeric_limits<std::int64_t>::max()}, Element::f32),
            std::nullopt);
}

TEST(HostTensor, EveryElementTypeAsDouble) {
  const std::vector<double> whole{0, 1, 200};
  EXPECT_EQ(to_doubles(tensor_of<std::uint8_t>(Element::u8, {0, 1, 200})), whole);
  EXPECT_EQ(to_doubles(tensor_of<std::int32_t>(Element::i32, {0, 1, 200})), whole);
  EXPECT_EQ(to_doubles(tensor_of<std::int64_t>(Element::i64, {0, 1, 200})), whole);
  EXPECT_EQ(to_doubles(tensor_of<double>(Element::f64, {0, 1, 200})), whole);
  EXPECT_EQ(to_doubles(tensor_of<float>(Element::f32, {0.1F, -2.5F})),
            (std::vector<double>{0.1F, -2.5}));
  EXPECT_EQ(to_doubles(tensor_of<std::uint16_t>(Element::bf16, {0x3f80, 0xc020})),
            (std::vector<double>{1.0, -2.5}));
}

TEST(HostTensor, HalvesAreExact) {
  // 1, -2, the largest, the smallest normal, the smallest of all, -0, infinity, and a NaN.
  const std::vector<double> values = to_doubles(tensor_of<std::uint16_t>(
      Element::f16, {0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x8000, 0x7c00, 0x7e00}));
  EXPECT_EQ(std::vector<double>(values.begin(), values.begin() + 5),
            (std::vector<double>{1.0, -2.0, 65504.0, 0x1p-14, 0x1p-24}));
  EXPECT_TRUE(values[5] == 0.0 && std::signbit(values[5]));
  EXPECT_EQ(values[6], std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(values[7]));
}

TEST(HostTensor, RefusesWhatCannotBeHeld) {
  EXPECT_EQ(error_of([] {
              to_doubles(tensor_of<std::int64_t>(Element::i64, {5, (std::int64_t{1} << 53) + 1}));
            }),
            "bad input: tensor 't': element 1 is 9007199254740993, beyond the integers that f64 "
            "holds");
  HostTensor cut = tensor_of<float>(Element::f32, {1, 2});
  cut.bytes.pop_back();
  EXPECT_EQ(error_of([&] { to_doubles(cut); }),
            "bad input: tensor 't': 7 bytes are not those of f32 {2}");
  const std::vector<float> two{1, 2};
  EXPECT_EQ(error_of([&] { make_tensor("w", {3}, two); }),
            "bad input: tensor 'w': 2 elements are not those of {3}");
  EXPECT_EQ(test::list_of<float>(make_tensor("w", {1, 2}, two).bytes), two);
}

}  // namespace
}  // namespace stepscope
