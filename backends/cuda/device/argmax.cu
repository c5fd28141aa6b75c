// Argmax and the count of correct rows. A NaN counts as largest; among equals the first wins.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/device/sums.cuh"
#include "backends/cuda/device/ticket.cuh"
#include "backends/cuda/submission.cuh"

namespace stepscope::cuda {
namespace {

struct Place {
  float value;
  int index;
};

// Which of two places comes first: a total order, so that it does not matter who meets whom.
__device__ bool before(const Place& a, const Place& b) {
  const bool a_is_nan = a.value != a.value, b_is_nan = b.value != b.value;
  if (a_is_nan != b_is_nan) return a_is_nan;
  if (!a_is_nan && a.value != b.value) return a.value > b.value;
  return a.index < b.index;
}

// x {C} -> the index of the first largest, by `group` lanes; each gets it.
__device__ int argmax_of(const float* x, const Rows& rows, std::uint32_t lane, bool active) {
  Place best{-INFINITY, INT_MAX};  // behind all that there is
  const std::uint32_t end = active ? rows.C : 0;
  for (std::uint32_t c = lane; c < end; c += rows.group) {
    const Place place{x[c], static_cast<int>(c)};
    if (before(place, best)) best = place;
  }
  for (std::uint32_t lanes = rows.group / 2; lanes > 0; lanes /= 2) {
    const Place other{__shfl_xor_sync(kAll, best.value, static_cast<int>(lanes)),
                      __shfl_xor_sync(kAll, best.index, static_cast<int>(lanes))};
    if (before(other, best)) best = other;
  }
  return best.index;
}

// x {N, C} -> y {N}
__global__ void __launch_bounds__(kRowThreads) argmax(const float* x, int* y, Rows rows) {
  const std::uint32_t lane = threadIdx.x % rows.group;
  const std::uint32_t groups = blockDim.x / rows.group;
  for (std::uint32_t begin = blockIdx.x * groups; begin < rows.N; begin += gridDim.x * groups) {
    const std::uint32_t n = begin + threadIdx.x / rows.group;
    const int index = argmax_of(x + n * rows.C, rows, lane, n < rows.N);
    if (lane == 0 && n < rows.N) y[n] = index;
  }
}

// logits {N, C}, labels {N} -> count {}; partial {blocks}, where there are several. The label of a
// row left out is no row's argmax.
__global__ void __launch_bounds__(kRowThreads)
    correct_count(const float* logits, const int* labels, int* count, int* partial, Rows rows) {
  SHARED_ARRAY(int, parts, [kMostWarps]);
  const std::uint32_t lane = threadIdx.x % rows.group;
  const std::uint32_t groups = blockDim.x / rows.group;
  int correct = 0;
  for (std::uint32_t begin = blockIdx.x * groups; begin < rows.N; begin += gridDim.x * groups) {
    const std::uint32_t n = begin + threadIdx.x / rows.group;
    const int index = argmax_of(logits + n * rows.C, rows, lane, n < rows.N);
    if (lane == 0 && n < rows.N && index == labels[n]) ++correct;
  }
  correct = sum_of_block(correct, parts);
  if (total_of_grid(correct, partial, rows.ticket)) *count = correct;
}

}  // namespace

cudaError_t run_argmax(Submission& to, Operands operands, const Rows& numbers) {
  return submit(to, numbers.blocks, numbers.threads, 0, argmax, at<const float>(operands, 0),
                at<int>(operands, 1), numbers);
}

cudaError_t run_correct_count(Submission& to, Operands operands, std::byte* scratch,
                              const Rows& numbers) {
  return submit(to, numbers.blocks, numbers.threads, 0, correct_count, at<const float>(operands, 0),
                at<const int>(operands, 1), at<int>(operands, 2), at<int>(&scratch, 0), numbers);
}

}  // namespace stepscope::cuda
