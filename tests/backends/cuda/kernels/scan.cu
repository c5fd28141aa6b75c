// Inclusive scan over blocks: each block scans its part, one block scans their sums, each adds what
// was before it.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/kernels/kernels.h"

namespace stepscope::kernels {
namespace {

constexpr int kThreads = 96;
constexpr int kWarp = 32;

// Of the block, in any of its threads: value of all threads up to the caller.
__device__ int scan_of_block(int value) {
  SHARED_ARRAY(int, sums, [kThreads / kWarp]);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  for (int distance = 1; distance < kWarp; distance *= 2) {
    const int before = __shfl_up_sync(0xffffffffu, value, static_cast<unsigned>(distance));
    if (lane >= distance) {
      value += before;
    }
  }
  if (lane == kWarp - 1) {
    sums[warp] = value;
  }
  __syncthreads();
  for (int other = 0; other < warp; ++other) {
    value += sums[other];
  }
  __syncthreads();  // the caller may scan again
  return value;
}

// in {n} -> out {n} scanned in parts of kThreads, sums {gridDim.x} of the parts
__global__ void scan_parts(int* out, int* sums, const int* in, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int value = scan_of_block(i < n ? in[i] : 0);
  if (i < n) {
    out[i] = value;
  }
  if (threadIdx.x == blockDim.x - 1) {
    sums[blockIdx.x] = value;
  }
}

// sums {count}, in place; one block
__global__ void scan_sums(int* sums, int count) {
  int carried = 0;
  for (int begin = 0; begin < count; begin += kThreads) {
    const int i = begin + static_cast<int>(threadIdx.x);
    SHARED_ARRAY(int, last, [1]);
    const int value = scan_of_block(i < count ? sums[i] : 0) + carried;
    if (i < count) {
      sums[i] = value;
    }
    if (threadIdx.x == blockDim.x - 1) {
      last[0] = value;
    }
    __syncthreads();
    carried = last[0];  // written next behind the barriers of the next scan
  }
}

// out {n} += the sum of the parts before
__global__ void add_sums(int* out, const int* sums, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n && blockIdx.x > 0) {
    out[i] += sums[blockIdx.x - 1];
  }
}

}  // namespace

int scan_blocks(int n) { return (n + kThreads - 1) / kThreads; }

cudaError_t launch_inclusive_scan(cudaStream_t stream, int* out, int* sums, const int* in, int n) {
  const int blocks = scan_blocks(n);
  const dim3 grid(static_cast<unsigned>(blocks));
  cudaError_t result = cuda::launch(stream, grid, kThreads, 0, scan_parts, out, sums, in, n);
  if (result == cudaSuccess) {
    result = cuda::launch(stream, 1, kThreads, 0, scan_sums, sums, blocks);
  }
  if (result == cudaSuccess) {
    result = cuda::launch(stream, grid, kThreads, 0, add_sums, out, sums, n);
  }
  return result;
}

}  // namespace stepscope::kernels
