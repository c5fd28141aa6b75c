// Sums and largest values across the lanes of a warp, a group of lanes, or a block: by shuffles, in
// an order that depends on the number of threads alone. Every lane gets the same bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cuda/device_compat.cuh"

namespace stepscope::cuda {
namespace {

constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kMostWarps = 32;  // of a block
constexpr unsigned kAll = 0xffffffffu;

// Over neighbouring lanes, `group` of them, a power of two. Requires: the whole warp calls.
template <class T>
__device__ T sum_of_group(T value, std::uint32_t group = kWarp) {
  for (std::uint32_t lanes = group / 2; lanes > 0; lanes /= 2) {
    value += __shfl_xor_sync(kAll, value, static_cast<int>(lanes));
  }
  return value;
}

// A NaN is left out of it.
__device__ inline float largest_of_group(float value, std::uint32_t group) {
  for (std::uint32_t lanes = group / 2; lanes > 0; lanes /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAll, value, static_cast<int>(lanes)));
  }
  return value;
}

// parts {kMostWarps}, in shared memory. Requires: all threads of the block call, whole warps.
template <class T>
__device__ T sum_of_block(T value, T* parts) {
  const std::uint32_t lane = threadIdx.x % kWarp;
  value = sum_of_group(value);
  if (lane == 0) parts[threadIdx.x / kWarp] = value;
  __syncthreads();
  const T part = lane < blockDim.x / kWarp ? parts[lane] : T{0};
  return sum_of_group(part);
}

}  // namespace
}  // namespace stepscope::cuda
