// Philox4x32-10 against published numbers, and what its draws promise.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/philox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace stepscope {
namespace {

constexpr std::uint32_t kOnes = 0xffffffff;

// Random123 1.14, tests/kat_vectors, the rows of philox4x32 with 10 rounds.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32_10({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Anybody can rebuild any draw: key = seed, counter = {position, stream}, low words first.
TEST(Philox, DrawsAreTheBlocksInOrder) {
  const std::uint64_t seed = 0x0123456789abcdef;
  const std::uint64_t stream = 0xfedcba9876543210;
  Philox draws(seed, stream);
  for (std::uint32_t position = 0; position < 3; ++position) {
    const PhiloxCounter block =
        philox4x32_10({position, 0, 0x76543210, 0xfedcba98}, {0x89abcdef, 0x01234567});
    for (const std::uint32_t word : block) EXPECT_EQ(draws.next_u32(), word);
  }
}

TEST(Philox, SixtyFourBitsAreTwoWordsLowFirst) {
  Philox words(3, 4);
  Philox pairs(3, 4);
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t low = words.next_u32();
    const std::uint64_t high = words.next_u32();
    EXPECT_EQ(pairs.next_u64(), low | high << 32);
  }
}

TEST(Philox, SeedsAndStreamsDiffer) {
  EXPECT_EQ(Philox(1, 2).next_u64(), Philox(1, 2).next_u64());
  EXPECT_NE(Philox(1, 2).next_u64(), Philox(2, 2).next_u64());
  EXPECT_NE(Philox(1, 2).next_u64(), Philox(1, 3).next_u64());
  EXPECT_NE(Philox(1, 2).next_u64(), Philox(2, 1).next_u64());
}

TEST(Philox, UniformIsTheUpper53Bits) {
  Philox bits(5);
  Philox draws(5);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(draws.uniform(), static_cast<double>(bits.next_u64() >> 11) / 9007199254740992.0);
  }
}

TEST(Philox, UniformMeanAndRange) {
  Philox draws(6);
  constexpr int kDraws = 100'000;
  double sum = 0.0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = draws.uniform(-2.0, 6.0);
    ASSERT_GE(u, -2.0);
    ASSERT_LT(u, 6.0);
    sum += u;
  }
  // Standard deviation of the mean: 8 / sqrt(12) / sqrt(kDraws) = 0.0073; five of them.
  EXPECT_NEAR(sum / kDraws, 2.0, 0.037);
}

TEST(Philox, NormalMomentsAndTails) {
  Philox draws(7);
  constexpr int kDraws = 200'000;
  double sum = 0.0, squares = 0.0, fourths = 0.0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = draws.normal();
    ASSERT_TRUE(std::isfinite(z));
    sum += z;
    squares += z * z;
    fourths += z * z * z * z;
    if (std::abs(z) > 2.0) ++beyond_two;
  }
  // Five standard deviations of each statistic: sqrt(v / kDraws), v = 1, 2, 96, 0.0434.
  EXPECT_NEAR(sum / kDraws, 0.0, 0.0112);
  EXPECT_NEAR(squares / kDraws, 1.0, 0.0158);
  EXPECT_NEAR(fourths / kDraws, 3.0, 0.11);
  EXPECT_NEAR(static_cast<double>(beyond_two) / kDraws, 0.0455, 0.0024);
}

// Box-Muller makes two values of two uniforms; the second waits for the next call.
TEST(Philox, NormalsComeInPairs) {
  Philox draws(8);
  Philox uniforms(8);
  const double first = draws.normal();
  const double second = draws.normal();
  const double u = uniforms.uniform();
  const double v = uniforms.uniform();
  EXPECT_NEAR(first * first + second * second, -2.0 * std::log(1.0 - u), 1e-12);
  EXPECT_NEAR(std::atan2(second, first),
              std::remainder(2.0 * 3.141592653589793 * v, 2.0 * 3.141592653589793), 1e-12);
  EXPECT_EQ(draws.next_u64(), uniforms.next_u64()) << "no other draw was taken";
}

TEST(Philox, BelowIsEvenAndInRange) {
  Philox draws(9);
  std::array<int, 7> counts{};
  constexpr int kDraws = 70'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t draw = draws.below(7);
    ASSERT_LT(draw, 7U);
    ++counts[draw];
  }
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 7, 5 * 93) << "five deviations";
  for (int i = 0; i < 10; ++i) EXPECT_EQ(draws.below(1), 0U);
}

// With a bound of 2/3 of the range, a plain remainder would hit the lower half twice as often.
TEST(Philox, BelowRejectsWhatWouldBias) {
  Philox draws(10);
  constexpr std::uint64_t kBound = 0xaaaaaaaaaaaaaaab;
  int low = 0;
  constexpr int kDraws = 10'000;
  for (int i = 0; i < kDraws; ++i) {
    if (draws.below(kBound) < kBound / 2) ++low;
  }
  EXPECT_NEAR(low, kDraws / 2, 250) << "five deviations";
}

TEST(Philox, PermutationsHoldEachNumberOnce) {
  Philox draws(11);
  EXPECT_TRUE(draws.permutation(0).empty());
  EXPECT_EQ(draws.permutation(1), std::vector<std::uint32_t>{0});
  std::vector<std::uint32_t> order = draws.permutation(1000);
  EXPECT_NE(order, draws.permutation(1000));
  std::sort(order.begin(), order.end());
  std::vector<std::uint32_t> expected(1000);
  std::iota(expected.begin(), expected.end(), 0U);
  EXPECT_EQ(order, expected);
}

TEST(Philox, EachPermutationIsEquallyLikely) {
  Philox draws(12);
  std::array<int, 6> counts{};
  constexpr int kDraws = 60'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<std::uint32_t> order = draws.permutation(3);
    ++counts[2 * order[0] + (order[1] > order[2] ? 1 : 0)];
  }
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 6, 5 * 92) << "five deviations";
}

}  // namespace
}  // namespace stepscope
