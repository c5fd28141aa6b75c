// Transpose by tiles: reads and writes both run along rows.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/kernels/kernels.h"

namespace stepscope::kernels {
namespace {

constexpr int kTile = 16;
constexpr int kRows = 4;  // of threads; each moves kTile / kRows elements

// in {rows, columns} -> out {columns, rows}
__global__ void transpose(float* out, const float* in, int rows, int columns) {
  SHARED_ARRAY(float, tile, [kTile][kTile + 1]);
  const int x = static_cast<int>(threadIdx.x);
  const int left = static_cast<int>(blockIdx.x) * kTile;
  const int top = static_cast<int>(blockIdx.y) * kTile;
  for (int y = static_cast<int>(threadIdx.y); y < kTile; y += kRows) {
    if (top + y < rows && left + x < columns) {
      tile[y][x] = in[(top + y) * columns + left + x];
    }
  }
  __syncthreads();
  for (int y = static_cast<int>(threadIdx.y); y < kTile; y += kRows) {
    if (left + y < columns && top + x < rows) {
      out[(left + y) * rows + top + x] = tile[x][y];
    }
  }
}

unsigned tiles(int extent) { return static_cast<unsigned>((extent + kTile - 1) / kTile); }

}  // namespace

cudaError_t launch_transpose(cudaStream_t stream, float* out, const float* in, int rows,
                             int columns) {
  return cuda::launch(stream, dim3(tiles(columns), tiles(rows)), dim3(kTile, kRows), 0, transpose,
                      out, in, rows, columns);
}

}  // namespace stepscope::kernels
