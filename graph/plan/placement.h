// Placement of blocks that live for an interval of ops: which bytes of an arena each one gets.
// Knows nothing of values or graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stepscope {

// Live from op `first` to op `last`, both included. Requires: 0 <= first <= last.
struct Block {
  std::size_t bytes = 0;
  std::int32_t first = 0;
  std::int32_t last = 0;
};

// The largest sum of bytes live at one op: no placement can do with less.
std::size_t peak(std::span<const Block> blocks);

struct Placement {
  std::vector<std::size_t> offsets;  // per block
  std::size_t bytes = 0;             // of the arena
};

// Largest first, each into the smallest gap that it fits; then at most `search_rounds` changes of
// that order, kept when the arena does not grow. Stops early where peak() is reached. The same
// arguments give the same placement. Blocks of no bytes get offset 0.
// Requires: bytes are multiples of the alignment that offsets should have.
Placement place(std::span<const Block> blocks, int search_rounds);

}  // namespace stepscope
