// The own kernels of relu's mask, the gate by it, and the rate by its schedule, against plain
// loops.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "tests/backends/cuda/backend/own_support.h"

namespace stepscope::cuda {
namespace {

// Widths below, at and above a word, a row of 128 bits, and more rows than a block has warps.
constexpr std::pair<std::uint32_t, std::uint32_t> kShapes[] = {
    {1, 1}, {3, 31}, {2, 32}, {11, 33}, {5, 128}, {9, 130}, {70, 5}};

Mask mask_of(std::uint32_t rows, std::uint32_t columns) {
  return {rows, columns, (columns + 31) / 32, (columns + 127) / 128 * 4};
}

class OwnMask : public OwnTest {
 protected:
  static std::vector<float> values(const Mask& mask, std::uint64_t stream) {
    std::vector<float> x = draw(std::size_t{mask.rows} * mask.columns, stream);
    const double specials[] = {0.0, -0.0, kNan, kInf, -kInf};
    for (std::size_t i = 0; i < std::min<std::size_t>(5, x.size()); ++i) {
      x[x.size() - 1 - i] = static_cast<float>(specials[i]);
    }
    return x;
  }
  static bool bit(const std::vector<std::uint32_t>& bits, const Mask& mask, std::size_t i) {
    const std::size_t row = i / mask.columns, column = i % mask.columns;
    return (bits[row * mask.row_words + column / 32] >> (column % 32) & 1U) != 0;
  }
};

TEST_F(OwnMask, HoldsABitForWhatIsAboveZero) {
  for (const auto& [rows, columns] : kShapes) {
    const Mask mask = mask_of(rows, columns);
    const std::vector<float> x = values(mask, 1);
    const Bytes empty(std::size_t{rows} * mask.row_words * 4);
    const std::vector<Bytes> out =
        outputs_of({bytes_of(x), empty}, {{x.size() * 4, 0}, {empty.size(), 1}},
                   [&](Submission& to, Operands operands, std::byte*) {
                     return run_relu_mask(to, operands, mask);
                   });
    const std::vector<float> y = values_of(out[0]);
    const auto bits = values_of<std::uint32_t>(out[1]);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(bit(bits, mask, i), x[i] > 0.0F) << columns << " columns, element " << i;
      expect_value(x[i] <= 0.0F ? 0.0 : double{x[i]}, y[i], kSmallestNormal, std::to_string(i));
    }
  }
}

TEST_F(OwnMask, LetsPassWhereTheBitIsSet) {
  for (const auto& [rows, columns] : kShapes) {
    const Mask mask = mask_of(rows, columns);
    const std::vector<float> dx = values(mask, 2);
    std::vector<std::uint32_t> bits(std::size_t{rows} * mask.row_words);
    Philox random(19, columns);
    for (std::uint32_t& word : bits) word = static_cast<std::uint32_t>(random.below(1ULL << 32));
    const std::vector<Bytes> out = outputs_of({bytes_of(dx), bytes_of(bits)}, {{dx.size() * 4, 0}},
                                              [&](Submission& to, Operands operands, std::byte*) {
                                                return run_mask_gate(to, operands, mask);
                                              });
    const std::vector<float> gated = values_of(out[0]);
    for (std::size_t i = 0; i < dx.size(); ++i) {
      expect_value(bit(bits, mask, i) ? double{dx[i]} : 0.0, gated[i], kSmallestNormal,
                   std::to_string(columns) + " columns, element " + std::to_string(i));
    }
  }
}

// The formula is checked on the processor, where it is the same text; here that the device's answer
// is that of the memory it is given.
TEST_F(OwnMask, RatesFollowTheStepInMemory) {
  const ScheduleNumbers cosine{ScheduleNumbers::Decay::cosine, 8, 0, 1.0, 0.25, 1.0};
  const float rate = 0.5F;
  for (const auto& [step, expected] : {std::pair{0, 0.5}, {4, 0.3125}, {8, 0.125}, {50, 0.125}}) {
    const std::vector<Bytes> out =
        outputs_of({bytes_of(std::vector{rate}), bytes_of(std::vector<std::int32_t>{step})},
                   {{4, -1}}, [&](Submission& to, Operands operands, std::byte*) {
                     return run_scheduled_rate(to, operands, cosine);
                   });
    expect_value(expected, values_of(out[0])[0], 4 * kUnitRoundoff, std::to_string(step));
  }
}

}  // namespace
}  // namespace stepscope::cuda
