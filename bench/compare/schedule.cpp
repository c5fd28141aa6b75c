// Balanced lists, shuffled from the seed.
// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/schedule.h"

#include <algorithm>
#include <utility>

#include "ops/base/check.h"
#include "ops/base/philox.h"

namespace stepscope {
namespace {

// Each use of the seed has streams of its own, so that one more pair leaves other lists alone.
enum class Use : std::uint64_t { orders = 0x0B10, rounds = 0x0B11, backends = 0x0B12 };

Philox random_for(std::uint64_t seed, Use use, std::int64_t process, std::uint64_t item) {
  const auto place = static_cast<std::uint64_t>(process);
  return Philox(
      seed, static_cast<std::uint64_t>(use) << 48 | (place & 0xFFFFFF) << 24 | (item & 0xFFFFFF));
}

std::vector<bool> balanced_orders(std::int64_t blocks, Philox random) {
  std::vector<bool> orders;
  orders.reserve(static_cast<std::size_t>(blocks));
  for (const std::uint32_t place : random.permutation(static_cast<std::uint32_t>(blocks))) {
    orders.push_back(place % 2 == 0);
  }
  return orders;
}

}  // namespace

std::vector<BlockPlan> block_plan(std::size_t pairs, std::int64_t blocks, std::uint64_t seed,
                                  std::int64_t process) {
  check(blocks >= 0 && blocks % 2 == 0, Fault::bad_input,
        "schedule: {} blocks per pair, expected an even number: half run as ABBA, half as BAAB",
        blocks);
  std::vector<std::vector<bool>> orders;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    orders.push_back(balanced_orders(blocks, random_for(seed, Use::orders, process, pair)));
  }
  std::vector<BlockPlan> plan;
  plan.reserve(pairs * static_cast<std::size_t>(blocks));
  Philox rounds = random_for(seed, Use::rounds, process, 0);
  for (std::size_t round = 0; round < static_cast<std::size_t>(blocks); ++round) {
    for (const std::uint32_t pair : rounds.permutation(static_cast<std::uint32_t>(pairs))) {
      plan.push_back({.pair = pair, .abba = orders[pair][round]});
    }
  }
  return plan;
}

std::vector<std::size_t> backend_order(std::size_t backends, std::uint64_t seed,
                                       std::int64_t process) {
  Philox random = random_for(seed, Use::backends, process / 2, 0);
  const std::vector<std::uint32_t> shuffled =
      random.permutation(static_cast<std::uint32_t>(backends));
  std::vector<std::size_t> order(shuffled.begin(), shuffled.end());
  if (process % 2 != 0) std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace stepscope
