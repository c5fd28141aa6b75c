// Update by gradient descent, four elements at a time, the rate read from the device.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/kernels/kernels.h"

namespace stepscope::kernels {
namespace {

constexpr unsigned kThreads = 64;

// weights {n}, gradient {n}, rate {1}
__global__ void sgd(float* weights, const float* gradient, const float* rate, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float step = *rate;
  const int vectors = n / 4;
  if (i < vectors) {
    float4 w = reinterpret_cast<float4*>(weights)[i];
    const float4 g = reinterpret_cast<const float4*>(gradient)[i];
    w.x -= step * g.x;
    w.y -= step * g.y;
    w.z -= step * g.z;
    w.w -= step * g.w;
    reinterpret_cast<float4*>(weights)[i] = w;
  }
  const int last = 4 * vectors + i;
  if (last < n && i < 4) {
    weights[last] -= step * gradient[last];
  }
}

}  // namespace

cudaError_t launch_sgd(cudaStream_t stream, float* weights, const float* gradient,
                       const float* rate, int n) {
  // One vector a thread, and at least the four threads of the rest.
  const unsigned blocks = static_cast<unsigned>(n) / (4 * kThreads) + 1;
  return cuda::launch(stream, blocks, kThreads, 0, sgd, weights, gradient, rate, n);
}

}  // namespace stepscope::kernels
