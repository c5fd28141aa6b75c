// Histogram: counted in shared memory, then added to the device's, by atomics on integers.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/kernels/kernels.h"

namespace stepscope::kernels {
namespace {

constexpr unsigned kThreads = 64;
constexpr unsigned kBlocks = 4;

// in {n} -> counts {kBins}
__global__ void histogram(unsigned* counts, const int* in, int n) {
  SHARED_ARRAY(unsigned, local, [kBins]);
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    local[bin] = 0;
  }
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(n);
       i += gridDim.x * blockDim.x) {
    atomicAdd(&local[in[i]], 1u);
  }
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    atomicAdd(&counts[bin], local[bin]);
  }
}

}  // namespace

cudaError_t launch_histogram(cudaStream_t stream, unsigned* counts, const int* in, int n) {
  return cuda::launch(stream, kBlocks, kThreads, 0, histogram, counts, in, n);
}

}  // namespace stepscope::kernels
