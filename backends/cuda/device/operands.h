// Operands as typed addresses, and grids for a number of elements: host code of the .cu files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace stepscope::cuda {

template <class T = float>
T* at(std::byte* const* operands, int index) {
  return reinterpret_cast<T*>(operands[index]);
}

inline constexpr std::uint32_t kThreads = 256;

// So many blocks that each of `threads` threads has one of `items`; one at least.
inline std::uint32_t blocks_for(std::uint32_t items, std::uint32_t threads = kThreads) {
  return items == 0 ? 1 : (items - 1) / threads + 1;
}

}  // namespace stepscope::cuda
