// Ticket: which block of a grid is the last to have done its part, so that it alone can do what
// needs all of them, without a second kernel. Who is last differs from launch to launch; what it
// does must not, so it takes the parts in an order of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cuda/device/sums.cuh"
#include "backends/cuda/device_compat.cuh"

namespace stepscope::cuda {
namespace {

// ticket {}: zero, and zero again when the grid has ended. True for the last of `drawers`, which
// sees what the others had written or read before they drew. Requires: one thread of each calls.
__device__ inline bool drew_last(std::uint32_t* ticket, std::uint32_t drawers) {
  __threadfence();
  if (atomicAdd(ticket, 1u) != drawers - 1) return false;
  __threadfence();
  atomicExch(ticket, 0u);
  return true;
}

// Adds up what the blocks have, each the same `value` in all its threads. True in one thread of the
// grid, where `value` has become the total: its order is that of the blocks, whoever is last.
// partial {blocks}, ticket {}: null for one block. Requires: all threads of the block call.
template <class T>
__device__ bool total_of_grid(T& value, T* partial, std::uint32_t* ticket) {
  if (gridDim.x == 1) return threadIdx.x == 0;
  if (threadIdx.x >= kWarp) return false;  // whole warps
  int last = 0;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = value;
    last = drew_last(ticket, gridDim.x) ? 1 : 0;
  }
  if (__shfl_sync(kAll, last, 0) == 0) return false;
  __syncwarp();  // a shuffle orders no memory: all lanes see what the first saw
  value = T{0};
  for (std::uint32_t i = threadIdx.x; i < gridDim.x; i += kWarp) value += partial[i];
  value = sum_of_group(value);
  return threadIdx.x == 0;
}

}  // namespace
}  // namespace stepscope::cuda
