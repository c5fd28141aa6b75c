// Kernels whose effect tells how often, and in which order, they ran.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/backend/step_kernels.h"

#include "backends/cuda/submission.cuh"

namespace stepscope::cuda::test {
namespace {

// x {n}
__global__ void twice_plus_one(float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] = 2.0F * x[i] + 1.0F;
}

unsigned blocks(int n, unsigned block) { return (static_cast<unsigned>(n) + block - 1) / block; }

}  // namespace

cudaError_t run_twice_plus_one(Submission& to, float* x, int n, unsigned block) {
  return submit(to, dim3(blocks(n, block)), dim3(block), 0, twice_plus_one, x, n);
}

cudaError_t stray_twice_plus_one(cudaStream_t stream, float* x, int n) {
  return launch(stream, dim3(blocks(n, 32)), dim3(32), 0, twice_plus_one, x, n);
}

cudaError_t programmatic_twice_plus_one(cudaStream_t stream, float* x, int n) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks(n, 32));
  config.blockDim = dim3(32);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, twice_plus_one, x, n);
}

}  // namespace stepscope::cuda::test
