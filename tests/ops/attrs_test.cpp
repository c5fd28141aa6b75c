// Attributes as words of a key and as text.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/attrs.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <vector>

namespace stepscope {
namespace {

std::vector<std::uint64_t> packed(const Attrs& attrs) {
  std::array<std::uint64_t, kMaxAttrWords> words{};
  return {words.data(), pack(attrs, words.data())};
}

// All of these differ from each other.
std::vector<Attrs> different() {
  const TensorType matrix{{2, 3}, DType::f32};
  return {Attrs{},
          MatMulAttrs{},
          MatMulAttrs{true, false},
          MatMulAttrs{false, true},
          ScaleAttrs{1.0},
          ScaleAttrs{0.0},
          ScaleAttrs{-0.0},
          FillAttrs{matrix, 1.0},
          FillAttrs{matrix, 2.0},
          FillAttrs{{{3, 2}, DType::f32}, 1.0},
          FillAttrs{{{2, 3}, DType::f64}, 1.0},
          FillAttrs{{{6}, DType::f32}, 1.0},
          FillAttrs{{{1, 2, 3, 4, 5, 6}, DType::f32}, 1.0},
          ReduceAttrs{0},
          ReduceAttrs{1},
          BroadcastAttrs{0, 1},
          BroadcastAttrs{1, 0},
          BroadcastAttrs{1, 1},
          SgdAttrs{false},
          SgdAttrs{true},
          MomentumAttrs{0.9, false},
          MomentumAttrs{0.9, true},
          MomentumAttrs{0.8, false},
          AdamAttrs{},
          AdamAttrs{.beta1 = 0.8},
          AdamAttrs{.beta2 = 0.9},
          AdamAttrs{.epsilon = 1e-7},
          AdamAttrs{.advance_step = true}};
}

TEST(Attrs, DifferentOnesGiveDifferentWords) {
  std::set<std::vector<std::uint64_t>> seen;
  for (const Attrs& attrs : different()) {
    EXPECT_TRUE(seen.insert(packed(attrs)).second) << to_string(attrs);
    EXPECT_EQ(packed(attrs), packed(Attrs(attrs)));
    EXPECT_LE(packed(attrs).size(), kMaxAttrWords);
  }
}

TEST(Attrs, Text) {
  EXPECT_EQ(to_string(Attrs{}), "");
  EXPECT_EQ(to_string(MatMulAttrs{true, false}), "transpose_a = true, transpose_b = false");
  EXPECT_EQ(to_string(ScaleAttrs{-0.5}), "factor = -0.5");
  EXPECT_EQ(to_string(FillAttrs{{{2, 3}, DType::f32}, 1.0}), "type = f32{2, 3}, value = 1");
  EXPECT_EQ(to_string(ReduceAttrs{1}), "axis = 1");
  EXPECT_EQ(to_string(BroadcastAttrs{1, 7}), "axis = 1, size = 7");
  EXPECT_EQ(to_string(SgdAttrs{true}), "advance_step = true");
  EXPECT_EQ(to_string(MomentumAttrs{0.9, false}), "mu = 0.9, advance_step = false");
  EXPECT_EQ(to_string(AdamAttrs{}),
            "beta1 = 0.9, beta2 = 0.999, epsilon = 1e-08, advance_step = false");
}

}  // namespace
}  // namespace stepscope
