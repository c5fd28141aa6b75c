// Kernels along one axis: a tensor is {outer, depth, inner} around it. Sums are added up in an
// order that depends on the shape alone: strided by the lanes of a warp, then across them.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/device/sums.cuh"
#include "backends/cuda/submission.cuh"

namespace stepscope::cuda {
namespace {

// x {N, C, inner}, bias {C} -> y as x
__global__ void __launch_bounds__(kThreads)
    add_bias(const float* x, const float* bias, float* y, Axis around, std::uint32_t n) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) y[i] = x[i] + bias[i / around.inner % around.depth];
}

// x {outer, inner} -> y {outer, depth, inner}
__global__ void __launch_bounds__(kThreads)
    broadcast(const float* x, float* y, Axis around, std::uint32_t n) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  const std::uint32_t inner = around.inner;
  y[i] = x[i / inner / around.depth * inner + i % inner];
}

constexpr std::uint32_t kColumns = 32;  // of a block, side by side in memory

// x {outer, depth, inner} -> y {outer, inner}: a block for 32 columns. Warp w adds up rows w, w +
// 32, ..., a lane for each column; then it takes the 32 sums of column w.
__global__ void __launch_bounds__(kColumns* kWarp)
    sum_columns(const float* x, float* y, Axis around, std::uint32_t blocks_across) {
  SHARED_ARRAY(float, part, [kWarp][kColumns + 1]);  // one more: its columns lie in all banks
  const std::uint32_t o = blockIdx.x / blocks_across;
  const std::uint32_t begin = blockIdx.x % blocks_across * kColumns;
  const std::uint32_t lane = threadIdx.x % kWarp;
  const std::uint32_t warp = threadIdx.x / kWarp;
  const std::uint32_t inner = around.inner;
  float sum = 0.0f;
  if (begin + lane < inner) {
    const float* column = x + o * around.depth * inner + begin + lane;
    for (std::uint32_t d = warp; d < around.depth; d += kWarp) sum += column[d * inner];
  }
  part[warp][lane] = sum;
  __syncthreads();
  const float total = sum_of_group(part[lane][warp]);
  if (lane == 0 && begin + warp < inner) y[o * inner + begin + warp] = total;
}

// x {rows, depth} -> y {rows}: a warp for each row
__global__ void __launch_bounds__(kThreads)
    sum_short_rows(const float* x, float* y, std::uint32_t rows, std::uint32_t depth) {
  const std::uint32_t row = blockIdx.x * (kThreads / kWarp) + threadIdx.x / kWarp;
  if (row >= rows) return;  // a whole warp
  const std::uint32_t lane = threadIdx.x % kWarp;
  float sum = 0.0f;
  for (std::uint32_t d = lane; d < depth; d += kWarp) sum += x[row * depth + d];
  sum = sum_of_group(sum);
  if (lane == 0) y[row] = sum;
}

// x {outer, gridDim, inner} -> y {gridDim}: a block for each place of the middle axis
__global__ void __launch_bounds__(kRowThreads)
    sum_planes(const float* x, float* y, std::uint32_t outer, std::uint32_t inner) {
  SHARED_ARRAY(float, parts, [kMostWarps]);
  float sum = 0.0f;
  for (std::uint32_t i = threadIdx.x; i < outer * inner; i += kRowThreads) {
    sum += x[(i / inner * gridDim.x + blockIdx.x) * inner + i % inner];
  }
  sum = sum_of_block(sum, parts);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

std::uint32_t elements_of(const Axis& around) { return around.outer * around.depth * around.inner; }

constexpr std::uint32_t kShortRow = 4 * kRowThreads;  // a longer one takes a block

}  // namespace

cudaError_t run_add_bias(Submission& to, Operands operands, const Axis& numbers) {
  const std::uint32_t n = elements_of(numbers);
  return submit(to, blocks_for(n), kThreads, 0, add_bias, at<const float>(operands, 0),
                at<const float>(operands, 1), at(operands, 2), numbers, n);
}

cudaError_t run_broadcast(Submission& to, Operands operands, const Axis& numbers) {
  const std::uint32_t n = elements_of(numbers);
  return submit(to, blocks_for(n), kThreads, 0, broadcast, at<const float>(operands, 0),
                at(operands, 1), numbers, n);
}

cudaError_t run_reduce_sum(Submission& to, Operands operands, const Axis& numbers) {
  const float* x = at<const float>(operands, 0);
  float* y = at(operands, 1);
  const std::uint32_t rows = numbers.outer;
  if (numbers.inner > 1) {
    const std::uint32_t across = blocks_for(numbers.inner, kColumns);
    return submit(to, rows * across, kColumns * kWarp, 0, sum_columns, x, y, numbers, across);
  }
  if (numbers.depth <= kShortRow) {
    return submit(to, blocks_for(rows, kThreads / kWarp), kThreads, 0, sum_short_rows, x, y, rows,
                  numbers.depth);
  }
  return submit(to, rows, kRowThreads, 0, sum_planes, x, y, 1U, numbers.depth);
}

// dy {N, C, inner} -> db {C}
cudaError_t run_bias_grad(Submission& to, Operands operands, const Axis& numbers) {
  if (numbers.inner == 1) {
    return run_reduce_sum(to, operands, {1, numbers.outer, numbers.depth});
  }
  return submit(to, numbers.depth, kRowThreads, 0, sum_planes, at<const float>(operands, 0),
                at(operands, 1), numbers.outer, numbers.inner);
}

}  // namespace stepscope::cuda
