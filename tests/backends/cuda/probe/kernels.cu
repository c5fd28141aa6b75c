// The probe's kernels.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/probe/kernels.h"

#include "backends/cuda/device_compat.cuh"

namespace stepscope::probe {
namespace {

constexpr unsigned kSlowRounds = 20'000;  // about 0.1 ms of dependent arithmetic on a GPU

__global__ void add(int* data, int amount) { *data += amount; }

__global__ void scale_add(int* data, int factor, int term) { *data = *data * factor + term; }

__global__ void slow_increment(int* data) {
  const int old = *data;
  unsigned noise = 1;
  for (unsigned round = 0; round < kSlowRounds; ++round) {
    noise = noise * 1664525U + 1013904223U;
  }
  // The noise is always another number; no compiler knows, so it must be computed.
  *data = old + (noise == 0U ? 2 : 1);
}

__global__ void nothing() {}

__global__ void use_array(int* data) {
  SHARED_ARRAY(int, array, [kArrayInts]);
  array[threadIdx.x] = *data;
  __syncthreads();
  *data = array[blockDim.x - 1 - threadIdx.x];
}

}  // namespace

cudaError_t launch_add(cudaStream_t stream, int* data, int amount) {
  return cuda::launch(stream, dim3(1), dim3(1), 0, add, data, amount);
}

cudaError_t launch_scale_add(cudaStream_t stream, int* data, int factor, int term) {
  return cuda::launch(stream, dim3(1), dim3(1), 0, scale_add, data, factor, term);
}

cudaError_t launch_slow_increment(cudaStream_t stream, int* data) {
  return cuda::launch(stream, dim3(1), dim3(1), 0, slow_increment, data);
}

cudaError_t launch_nothing(cudaStream_t stream, dim3 grid, dim3 block, std::size_t dynamic_shared) {
  return cuda::launch(stream, grid, block, dynamic_shared, nothing);
}

cudaError_t launch_use_array(cudaStream_t stream, int* data, std::size_t dynamic_shared) {
  return cuda::launch(stream, dim3(1), dim3(1), dynamic_shared, use_array, data);
}

const void* add_kernel() {
  REGISTER_KERNEL(add);
  return reinterpret_cast<const void*>(add);
}

const void* scale_add_kernel() {
  REGISTER_KERNEL(scale_add);
  return reinterpret_cast<const void*>(scale_add);
}

const void* nothing_kernel() {
  REGISTER_KERNEL(nothing);
  return reinterpret_cast<const void*>(nothing);
}

}  // namespace stepscope::probe
