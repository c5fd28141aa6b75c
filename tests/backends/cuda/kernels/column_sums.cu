// Sums of columns, the gradient of a bias: a block for each 32 columns, its rows of threads summed
// in a fixed order.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/kernels/kernels.h"

namespace stepscope::kernels {
namespace {

constexpr int kColumns = 32;
constexpr int kRows = 4;

// in {rows, columns} -> out {columns}
__global__ void column_sums(float* out, const float* in, int rows, int columns) {
  SHARED_ARRAY(float, part, [kRows][kColumns]);
  const int column = static_cast<int>(blockIdx.x) * kColumns + static_cast<int>(threadIdx.x);
  float sum = 0.0f;
  if (column < columns) {
    for (int row = static_cast<int>(threadIdx.y); row < rows; row += kRows) {
      sum += in[row * columns + column];
    }
  }
  part[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && column < columns) {
    for (int row = 1; row < kRows; ++row) {
      sum += part[row][threadIdx.x];
    }
    out[column] = sum;
  }
}

}  // namespace

cudaError_t launch_column_sums(cudaStream_t stream, float* out, const float* in, int rows,
                               int columns) {
  const unsigned blocks = static_cast<unsigned>((columns + kColumns - 1) / kColumns);
  return cuda::launch(stream, blocks, dim3(kColumns, kRows), 0, column_sums, out, in, rows,
                      columns);
}

}  // namespace stepscope::kernels
