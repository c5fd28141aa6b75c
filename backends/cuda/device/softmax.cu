// Softmax with cross-entropy, its gradient, and both at once. A few lanes take a row; the loss is
// summed in a fixed order by the block that is last.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/device/sums.cuh"
#include "backends/cuda/device/ticket.cuh"
#include "backends/cuda/submission.cuh"

namespace stepscope::cuda {
namespace {

// What a row is divided by and what the loss needs of it.
struct Row {
  float largest, sum;  // sum of exp(x - largest)
};

// x {C}, by `group` lanes. A row with a NaN, a +inf or nothing but -inf has a NaN for its sum.
__device__ Row measure(const float* x, const Rows& rows, std::uint32_t lane, bool active) {
  float largest = -INFINITY;
  const std::uint32_t end = active ? rows.C : 0;
  for (std::uint32_t c = lane; c < end; c += rows.group) largest = fmaxf(largest, x[c]);
  largest = largest_of_group(largest, rows.group);
  float sum = 0.0f;
  for (std::uint32_t c = lane; c < end; c += rows.group) sum += expf(x[c] - largest);
  return {largest, sum_of_group(sum, rows.group)};
}

// How many of labels {N} name a class: the rows that the mean is over. parts {kMostWarps}, shared.
__device__ int rows_left(const int* labels, std::uint32_t N, int* parts) {
  int mine = 0;
  for (std::uint32_t n = threadIdx.x; n < N; n += blockDim.x) mine += labels[n] >= 0 ? 1 : 0;
  return sum_of_block(mine, parts);
}

// rate / left; infinite or NaN where no row is left to be multiplied by it.
__device__ float mean_factor(const float* rate, int left) {
  return (rate == nullptr ? 1.0f : *rate) / static_cast<float>(left);
}

// Of one logit: zero where the row is left out, whatever its probability is.
__device__ float slope(float probability, std::uint32_t c, int label, float factor) {
  const float hot = static_cast<int>(c) == label ? 1.0f : 0.0f;
  return label < 0 ? 0.0f : (probability - hot) * factor;
}

// logits {N, C}, labels {N}[, rate {}] -> loss {}, out {N, C}: probabilities, or the gradient of
// the loss; partial {blocks}, where there are several. Rows are dealt out to groups of lanes; whole
// warps take part, also behind the last row.
template <bool kGradient>
__global__ void __launch_bounds__(kRowThreads)
    softmax(const float* logits, const int* labels, const float* rate, float* loss, float* out,
            double* partial, Rows rows) {
  SHARED_ARRAY(int, counts, [kMostWarps]);
  SHARED_ARRAY(double, losses, [kMostWarps]);
  const int left = rows_left(labels, rows.N, counts);
  const float factor = kGradient ? mean_factor(rate, left) : 0.0f;
  const std::uint32_t lane = threadIdx.x % rows.group;
  const std::uint32_t groups = blockDim.x / rows.group;
  double total = 0.0;
  for (std::uint32_t begin = blockIdx.x * groups; begin < rows.N; begin += gridDim.x * groups) {
    const std::uint32_t n = begin + threadIdx.x / rows.group;
    const bool active = n < rows.N;
    const float* x = logits + n * rows.C;
    const Row row = measure(x, rows, lane, active);
    if (!active) continue;  // up to the loop's end, where all meet again
    const int label = labels[n];
    for (std::uint32_t c = lane; c < rows.C; c += rows.group) {
      const float probability = expf(x[c] - row.largest) / row.sum;
      out[n * rows.C + c] = kGradient ? slope(probability, c, label, factor) : probability;
    }
    if (lane == 0 && label >= 0) total += double{logf(row.sum)} - double{x[label] - row.largest};
  }
  total = sum_of_block(total, losses);
  if (total_of_grid(total, partial, rows.ticket)) *loss = static_cast<float>(total / left);
}

// probabilities {N, C}, labels {N}[, d_loss {}] -> d_logits {N, C}
__global__ void __launch_bounds__(kManyThreads)
    softmax_grad(const float* probabilities, const int* labels, const float* d_loss,
                 float* d_logits, Rows rows) {
  SHARED_ARRAY(int, counts, [kMostWarps]);
  const float factor = mean_factor(d_loss, rows_left(labels, rows.N, counts));
  for (std::uint32_t i = blockIdx.x * kManyThreads + threadIdx.x; i < rows.N * rows.C;
       i += gridDim.x * kManyThreads) {
    d_logits[i] = slope(probabilities[i], i % rows.C, labels[i / rows.C], factor);
  }
}

template <bool kGradient>
cudaError_t submit_softmax(Submission& to, Operands operands, std::byte* scratch,
                           const Rows& numbers) {
  const int outputs = numbers.has_factor ? 3 : 2;
  return submit(to, numbers.blocks, numbers.threads, 0, softmax<kGradient>,
                at<const float>(operands, 0), at<const int>(operands, 1),
                numbers.has_factor ? at<const float>(operands, 2) : nullptr, at(operands, outputs),
                at(operands, outputs + 1), at<double>(&scratch, 0), numbers);
}

}  // namespace

cudaError_t run_softmax(Submission& to, Operands operands, std::byte* scratch,
                        const Rows& numbers) {
  return submit_softmax<false>(to, operands, scratch, numbers);
}

cudaError_t run_softmax_with_grad(Submission& to, Operands operands, std::byte* scratch,
                                  const Rows& numbers) {
  return submit_softmax<true>(to, operands, scratch, numbers);
}

// Each block counts the labels for itself, so there are not many of them.
cudaError_t run_softmax_grad(Submission& to, Operands operands, const Rows& numbers) {
  const std::uint32_t wanted = blocks_for(numbers.N * numbers.C, kManyThreads);
  return submit(to, wanted < kMostRowBlocks ? wanted : kMostRowBlocks, kManyThreads, 0,
                softmax_grad, at<const float>(operands, 0), at<const int>(operands, 1),
                numbers.has_factor ? at<const float>(operands, 2) : nullptr,
                at(operands, numbers.has_factor ? 3 : 2), numbers);
}

}  // namespace stepscope::cuda
