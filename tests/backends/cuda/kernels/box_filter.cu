// Box filter: a block's part and its surroundings in dynamic shared memory, whose size is the
// launch's.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/kernels/kernels.h"

namespace stepscope::kernels {
namespace {

constexpr int kThreads = 64;

// in {n} -> out {n}; dynamic shared memory for blockDim.x + 2 * radius floats
__global__ void box_filter(float* out, const float* in, int n, int radius) {
  DYNAMIC_SHARED(float, near);
  const int begin = static_cast<int>(blockIdx.x * blockDim.x);
  const int count = static_cast<int>(blockDim.x) + 2 * radius;
  for (int k = static_cast<int>(threadIdx.x); k < count; k += static_cast<int>(blockDim.x)) {
    const int i = begin + k - radius;
    near[k] = i >= 0 && i < n ? in[i] : 0.0f;
  }
  __syncthreads();
  const int i = begin + static_cast<int>(threadIdx.x);
  if (i >= n) {
    return;
  }
  float sum = 0.0f;
  for (int k = 0; k <= 2 * radius; ++k) {
    sum += near[static_cast<int>(threadIdx.x) + k];
  }
  out[i] = sum / static_cast<float>(2 * radius + 1);
}

}  // namespace

cudaError_t launch_box_filter(cudaStream_t stream, float* out, const float* in, int n, int radius) {
  const unsigned blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
  const std::size_t shared = static_cast<std::size_t>(kThreads + 2 * radius) * sizeof(float);
  return cuda::launch(stream, blocks, kThreads, shared, box_filter, out, in, n, radius);
}

}  // namespace stepscope::kernels
