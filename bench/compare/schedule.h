// The order of everything in a comparison, settled before the first timing and rebuilt by anybody
// from the seed: blocks inside a process, backends among processes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stepscope {

// One block of one pair. A is the pair's base.
struct BlockPlan {
  std::size_t pair = 0;
  bool abba = true;  // else BAAB

  friend bool operator==(const BlockPlan&, const BlockPlan&) = default;
};

// The blocks of one process in running order: rounds of one block of each pair, pairs in a new
// order every round; each pair gets as many ABBA as BAAB, shuffled. `process` is the number of the
// process within its backend.
// Throws bad_input unless blocks is even and not below 0.
std::vector<BlockPlan> block_plan(std::size_t pairs, std::int64_t blocks, std::uint64_t seed,
                                  std::int64_t process);

// The order in which the backends start their process number `process`: a new shuffle for each even
// number, and the same backwards for the odd one after it, so that of any two each starts first
// equally often.
std::vector<std::size_t> backend_order(std::size_t backends, std::uint64_t seed,
                                       std::int64_t process);

}  // namespace stepscope
