// Softmax and cross-entropy with its gradient: a warp for each row, reduced by shuffles.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/kernels/kernels.h"

namespace stepscope::kernels {
namespace {

constexpr unsigned kWarp = 32;
constexpr unsigned kWarps = 4;  // rows of a block
constexpr unsigned kAll = 0xffffffffu;

__device__ float max_of_warp(float value) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAll, value, lanes));
  }
  return value;
}

__device__ float sum_of_warp(float value) {
  for (unsigned lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    value += __shfl_down_sync(kAll, value, lanes);
  }
  return __shfl_sync(kAll, value, 0);
}

// logits {rows, columns}, labels {rows} -> loss {rows}, gradient {rows, columns}
__global__ void __launch_bounds__(kWarp* kWarps)
    softmax_xent(float* loss, float* gradient, const float* logits, const int* labels, int rows,
                 int columns) {
  const int row = static_cast<int>(blockIdx.x * kWarps + threadIdx.x / kWarp);
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  if (row >= rows) {
    return;  // a whole warp
  }
  logits += row * columns;
  gradient += row * columns;
  float most = -INFINITY;
  for (int column = lane; column < columns; column += kWarp) {
    most = fmaxf(most, logits[column]);
  }
  most = max_of_warp(most);
  float sum = 0.0f;
  for (int column = lane; column < columns; column += kWarp) {
    sum += __expf(logits[column] - most);
  }
  sum = sum_of_warp(sum);
  const int label = labels[row];
  for (int column = lane; column < columns; column += kWarp) {
    const float likely = __fdividef(__expf(logits[column] - most), sum);
    gradient[column] = (likely - (column == label ? 1.0f : 0.0f)) / static_cast<float>(rows);
  }
  if (lane == 0) {
    loss[row] = __logf(sum) + most - logits[label];
  }
}

}  // namespace

cudaError_t launch_softmax_xent(cudaStream_t stream, float* loss, float* gradient,
                                const float* logits, const int* labels, int rows, int columns) {
  const unsigned blocks = (static_cast<unsigned>(rows) + kWarps - 1) / kWarps;
  return cuda::launch(stream, blocks, kWarp * kWarps, 0, softmax_xent, loss, gradient, logits,
                      labels, rows, columns);
}

}  // namespace stepscope::kernels
