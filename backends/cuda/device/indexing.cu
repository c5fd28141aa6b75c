// Gather and ScatterAdd: rows of a table, by index. Requires: indices in [0, rows).
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/device/sums.cuh"
#include "backends/cuda/submission.cuh"

namespace stepscope::cuda {
namespace {

// table {rows, row}, indices {N} -> y {N, row}, in units of one element or of four
template <class Unit>
__global__ void __launch_bounds__(kThreads)
    gather(const Unit* table, const int* indices, Unit* y, std::uint32_t row, std::uint32_t n) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) y[i] = table[static_cast<std::uint32_t>(indices[i / row]) * row + i % row];
}

template <class Unit>
cudaError_t submit_gather(Submission& to, Operands operands, const Indexed& numbers) {
  const auto row = static_cast<std::uint32_t>(numbers.row * sizeof(std::uint32_t) / sizeof(Unit));
  const std::uint32_t n = numbers.N * row;
  return submit(to, blocks_for(n), kThreads, 0, gather<Unit>, at<const Unit>(operands, 0),
                at<const int>(operands, 1), at<Unit>(operands, 2), row, n);
}

constexpr std::uint32_t kRows = kThreads / kWarp;          // of a block
constexpr std::uint32_t kParts = kScatterColumns / kWarp;  // columns of a lane

// updates {N, row}, indices {N} -> y {rows, row}: a warp for each row and 128 of its columns. It
// looks through all indices, 32 at a time, and adds what is meant for its row in the order of n.
__global__ void __launch_bounds__(kThreads)
    scatter_add(const float* updates, const int* indices, float* y, Indexed numbers) {
  const std::uint32_t r = blockIdx.x * kRows + threadIdx.x / kWarp;
  if (r >= numbers.rows) return;  // a whole warp
  const std::uint32_t lane = threadIdx.x % kWarp;
  const std::uint32_t begin = blockIdx.y * kScatterColumns + lane;
  float sums[kParts] = {};
  for (std::uint32_t first = 0; first < numbers.N; first += kWarp) {
    const bool mine =
        first + lane < numbers.N && static_cast<std::uint32_t>(indices[first + lane]) == r;
    unsigned found = __ballot_sync(kAll, mine ? 1 : 0);
    for (std::uint32_t n = first; found != 0; ++n, found >>= 1) {
      if ((found & 1) == 0) continue;
      for (std::uint32_t p = 0; p < kParts; ++p) {
        const std::uint32_t column = begin + p * kWarp;
        if (column < numbers.row) sums[p] += updates[n * numbers.row + column];
      }
    }
  }
  for (std::uint32_t p = 0; p < kParts; ++p) {
    const std::uint32_t column = begin + p * kWarp;
    if (column < numbers.row) y[r * numbers.row + column] = sums[p];
  }
}

}  // namespace

// In vectors where a row is made of whole ones; bits of any type of four bytes move as they are.
cudaError_t run_gather(Submission& to, Operands operands, const Indexed& numbers) {
  constexpr std::uint32_t kElements = sizeof(uint4) / sizeof(std::uint32_t);
  if (numbers.row % kElements == 0) return submit_gather<uint4>(to, operands, numbers);
  return submit_gather<std::uint32_t>(to, operands, numbers);
}

cudaError_t run_scatter_add(Submission& to, Operands operands, const Indexed& numbers) {
  const dim3 grid(blocks_for(numbers.rows, kRows), blocks_for(numbers.row, kScatterColumns));
  return submit(to, grid, kThreads, 0, scatter_add, at<const float>(operands, 0),
                at<const int>(operands, 1), at(operands, 2), numbers);
}

}  // namespace stepscope::cuda
