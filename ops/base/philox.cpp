// Philox4x32-10 and the draws made from it.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/philox.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace stepscope {
namespace {

// Multipliers and Weyl increments of Philox4x32 (Salmon et al. 2011, table 2 and section 4.2).
constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

std::uint32_t high(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
std::uint32_t low(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

}  // namespace

PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * counter[0];
    const std::uint64_t product1 = std::uint64_t{kMultiplier1} * counter[2];
    counter = {high(product1) ^ counter[1] ^ key[0], low(product1),
               high(product0) ^ counter[3] ^ key[1], low(product0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

std::uint32_t Philox::next_u32() {
  if (used_ == block_.size()) {
    block_ = philox4x32_10({low(position_), high(position_), low(stream_), high(stream_)},
                           {low(seed_), high(seed_)});
    ++position_;
    used_ = 0;
  }
  return block_[used_++];
}

std::uint64_t Philox::next_u64() {
  const std::uint64_t first = next_u32();
  return first | std::uint64_t{next_u32()} << 32;
}

double Philox::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }

double Philox::uniform(double low_end, double high_end) {
  return low_end + (high_end - low_end) * uniform();
}

double Philox::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));  // 1 - u is in (0, 1]
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

std::uint64_t Philox::below(std::uint64_t bound) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t limit = kLast - kLast % bound;  // a multiple of bound
  std::uint64_t draw = next_u64();
  while (draw >= limit) draw = next_u64();
  return draw % bound;
}

std::vector<std::uint32_t> Philox::permutation(std::uint32_t count) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = count; i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(below(i))]);
  }
  return order;
}

}  // namespace stepscope
