// What relu lets pass, a bit an element, for products whose library has no epilogue that writes the
// bits or reads them: rows of whole 128 bits, as cuBLASLt lays them out, so that one of the two may
// be the library's. A warp has 32 elements of a row and their bits, which are one word.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device/functions.cuh"
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/device/sums.cuh"
#include "backends/cuda/submission.cuh"

namespace stepscope::cuda {
namespace {

constexpr std::uint32_t kWarps = kThreads / kWarp;

// The word of a warp, and the element of a lane.
struct Place {
  bool has_word, has_element;
  std::size_t word, element;
};

__device__ Place place_of(const Mask& numbers) {
  const std::uint32_t warp = blockIdx.x * kWarps + threadIdx.x / kWarp;
  const std::uint32_t row = warp / numbers.words, word = warp % numbers.words;
  const std::uint32_t column = word * kWarp + threadIdx.x % kWarp;
  const bool has_word = row < numbers.rows;
  return {has_word, has_word && column < numbers.columns,
          std::size_t{row} * numbers.row_words + word, std::size_t{row} * numbers.columns + column};
}

// x {rows, columns} -> y {rows, columns} = relu(x), over x; bits {rows, row_words} = y > 0
__global__ void __launch_bounds__(kThreads)
    relu_mask(float* y, std::uint32_t* bits, const Mask numbers) {
  const Place place = place_of(numbers);
  const float value = place.has_element ? relu(y[place.element]) : 0.0f;
  const unsigned word = __ballot_sync(kAll, value > 0.0f ? 1 : 0);
  if (place.has_element) y[place.element] = value;
  if (place.has_word && threadIdx.x % kWarp == 0) bits[place.word] = word;
}

// dx {rows, columns}, bits {rows, row_words} -> dx where its bit is set, else zero
__global__ void __launch_bounds__(kThreads)
    mask_gate(float* dx, const std::uint32_t* bits, const Mask numbers) {
  const Place place = place_of(numbers);
  if (!place.has_element) return;
  if ((bits[place.word] >> threadIdx.x % kWarp & 1u) == 0) dx[place.element] = 0.0f;
}

std::uint32_t blocks_of(const Mask& numbers) {
  return blocks_for(numbers.rows * numbers.words, kWarps);
}

}  // namespace

cudaError_t run_relu_mask(Submission& to, Operands operands, const Mask& numbers) {
  return submit(to, blocks_of(numbers), kThreads, 0, relu_mask, at(operands, 0),
                at<std::uint32_t>(operands, 1), numbers);
}

cudaError_t run_mask_gate(Submission& to, Operands operands, const Mask& numbers) {
  return submit(to, blocks_of(numbers), kThreads, 0, mask_gate, at(operands, 0),
                at<const std::uint32_t>(operands, 1), numbers);
}

}  // namespace stepscope::cuda
