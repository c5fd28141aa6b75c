// Sum of an array: a reduction in shared memory, by the block and then by one warp, in a fixed
// order.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/kernels/kernels.h"

namespace stepscope::kernels {
namespace {

constexpr unsigned kThreads = 128;
constexpr unsigned kWarp = 32;

// in {n} -> partial {gridDim.x}
__global__ void __launch_bounds__(kThreads) sum(float* partial, const float* in, int n) {
  SHARED_ARRAY(float, part, [kThreads]);
  const unsigned self = threadIdx.x;
  float mine = 0.0f;
  for (unsigned i = blockIdx.x * blockDim.x + self; i < static_cast<unsigned>(n);
       i += gridDim.x * blockDim.x) {
    mine += __ldg(in + i);
  }
  part[self] = mine;
  __syncthreads();
  for (unsigned half = kThreads / 2; half >= kWarp; half /= 2) {
    if (self < half) {
      part[self] += part[self + half];
    }
    __syncthreads();
  }
  if (self >= kWarp) {
    return;
  }
  for (unsigned half = kWarp / 2; half > 0; half /= 2) {
    const float other = part[self + half];
    __syncwarp();
    part[self] += other;
    __syncwarp();
  }
  if (self == 0) {
    partial[blockIdx.x] = part[0];
  }
}

}  // namespace

cudaError_t launch_sum(cudaStream_t stream, float* out, float* scratch, const float* in, int n) {
  const cudaError_t first = cuda::launch(stream, kSumBlocks, kThreads, 0, sum, scratch, in, n);
  if (first != cudaSuccess) {
    return first;
  }
  return cuda::launch(stream, 1, kThreads, 0, sum, out, scratch, kSumBlocks);
}

}  // namespace stepscope::kernels
