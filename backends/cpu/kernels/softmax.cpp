// Softmax with cross-entropy, its gradient, both at once, argmax and the count of correct rows.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/lanes.h"
#include "backends/cpu/kernels/math.h"
#include "ops/ir/labels.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {
namespace {

// Rows are short (10 classes), so what can be is done on a block of them at once, as one array.
constexpr std::int64_t kBlock = 16;

std::int64_t block_end(std::int64_t begin, std::int64_t N) {
  return N - begin < kBlock ? N : begin + kBlock;
}

// row {C}: the first largest; a NaN counts as largest.
std::int64_t argmax_of(const float* row, std::int64_t C) {
  std::int64_t best = 0;
  for (std::int64_t c = 0; c < C; ++c) {
    if (row[c] != row[c]) return c;
    if (row[c] > row[best]) best = c;
  }
  return best;
}

// How many of labels {N} name a class: the rows that the mean is over.
std::int64_t rows_left(const std::int32_t* labels, std::int64_t N) {
  std::int64_t left = 0;
  for (std::int64_t n = 0; n < N; ++n) left += left_out(labels[n]) ? 0 : 1;
  return left;
}

// logits {rows, C}, labels {rows} -> probabilities {rows, C}; the sum of the losses of the rows
// that are not left out.
// A row with a NaN, a +inf or nothing but -inf is NaN throughout: its exponents are.
double softmax(const float* logits, const std::int32_t* labels, std::int64_t rows, std::int64_t C,
               float* probabilities) {
  double shifted_labels = 0.0;
  for (std::int64_t n = 0; n < rows; ++n) {
    const float* row = logits + n * C;
    const float largest = largest_of(row, C);
    for (std::int64_t c = 0; c < C; ++c) probabilities[n * C + c] = row[c] - largest;
    if (!left_out(labels[n])) shifted_labels += double{probabilities[n * C + labels[n]]};
  }
#pragma omp simd
  for (std::int64_t i = 0; i < rows * C; ++i) probabilities[i] = exp_of(probabilities[i]);
  // The sum of logarithms as the logarithm of a product: each factor is in [1, C], so that sixteen
  // of them stay below 2^1023 for any C there can be.
  double sums = 1.0;
  for (std::int64_t n = 0; n < rows; ++n) {
    float* row = probabilities + n * C;
    const float sum = sum_of(row, C);
    for (std::int64_t c = 0; c < C; ++c) row[c] /= sum;
    if (!left_out(labels[n])) sums *= double{sum};
  }
  return std::log(sums) - shifted_labels;
}

// One block of rows: probabilities {rows, C}, labels {rows} -> d_logits {rows, C}; both may be one
// array. Rows left out become zeros, whatever their probabilities are.
void softmax_grad(const float* probabilities, const std::int32_t* labels, std::int64_t rows,
                  std::int64_t C, float factor, float* d_logits) {
  float hot[kBlock];  // read before d_logits is written
  for (std::int64_t n = 0; n < rows; ++n) {
    hot[n] = left_out(labels[n]) ? 0.0F : probabilities[n * C + labels[n]];
  }
#pragma omp simd
  for (std::int64_t i = 0; i < rows * C; ++i) d_logits[i] = probabilities[i] * factor;
  for (std::int64_t n = 0; n < rows; ++n) {
    float* row = d_logits + n * C;
    if (left_out(labels[n])) {
      for (std::int64_t c = 0; c < C; ++c) row[c] = 0.0F;
    } else {
      row[labels[n]] = (hot[n] - 1.0F) * factor;
    }
  }
}

// d_loss / left, or 1 / left; infinite or NaN where no row is left to be multiplied by it.
float mean_factor(const Rows& site, const float* d_loss, std::int64_t left) {
  const double numerator = site.has_factor ? double{*d_loss} : 1.0;
  return static_cast<float>(numerator / static_cast<double>(left));
}

}  // namespace

// logits {N, C}, labels i32{N} -> loss {}, probabilities {N, C}
// Subtracts the row's maximum and clamps nothing; the loss is the mean over the rows that are not
// left out (NaN for none), added up in f64 in the order of the rows. A row left out has
// probabilities as any other.
void SoftmaxCrossEntropy(Operands operands, std::byte*, const Numbers& numbers) {
  const auto N = numbers.rows.N;
  const auto C = numbers.rows.C;
  double loss = 0.0;
  for (std::int64_t n = 0; n < N; n += kBlock) {
    loss += softmax(f32(operands, 0) + n * C, i32(operands, 1) + n, block_end(n, N) - n, C,
                    f32(operands, 3) + n * C);
  }
  const std::int64_t left = rows_left(i32(operands, 1), N);
  *f32(operands, 2) = static_cast<float>(loss / static_cast<double>(left));
}

// probabilities {N, C}, labels i32{N}[, d_loss {}] -> d_logits {N, C}
void SoftmaxCrossEntropyGrad(Operands operands, std::byte*, const Numbers& numbers) {
  const auto N = numbers.rows.N;
  const auto C = numbers.rows.C;
  float* d_logits = f32(operands, numbers.rows.has_factor ? 3 : 2);
  const std::int64_t left = rows_left(i32(operands, 1), N);
  const float factor = mean_factor(numbers.rows, f32(operands, 2), left);
  for (std::int64_t n = 0; n < N; n += kBlock) {
    softmax_grad(f32(operands, 0) + n * C, i32(operands, 1) + n, block_end(n, N) - n, C, factor,
                 d_logits + n * C);
  }
}

// logits {N, C}, labels i32{N}[, rate {}] -> loss {}, d_logits {N, C}: the two above, block by
// block, with the probabilities where their gradient comes to lie.
void SoftmaxCrossEntropyWithGrad(Operands operands, std::byte*, const Numbers& numbers) {
  const auto N = numbers.rows.N;
  const auto C = numbers.rows.C;
  const int outputs = numbers.rows.has_factor ? 3 : 2;
  const std::int64_t left = rows_left(i32(operands, 1), N);
  const float factor = mean_factor(numbers.rows, f32(operands, 2), left);
  double loss = 0.0;
  for (std::int64_t n = 0; n < N; n += kBlock) {
    const std::int32_t* labels = i32(operands, 1) + n;
    float* block = f32(operands, outputs + 1) + n * C;
    const std::int64_t rows = block_end(n, N) - n;
    loss += softmax(f32(operands, 0) + n * C, labels, rows, C, block);
    softmax_grad(block, labels, rows, C, factor, block);
  }
  *f32(operands, outputs) = static_cast<float>(loss / static_cast<double>(left));
}

// x {N, C} -> i32{N}
void Argmax(Operands operands, std::byte*, const Numbers& numbers) {
  const auto C = numbers.rows.C;
  for (std::int64_t n = 0; n < numbers.rows.N; ++n) {
    i32(operands, 1)[n] = static_cast<std::int32_t>(argmax_of(f32(operands, 0) + n * C, C));
  }
}

// logits {N, C}, labels i32{N} -> i32{}; the label of a row left out is no row's argmax
void CorrectCount(Operands operands, std::byte*, const Numbers& numbers) {
  const auto C = numbers.rows.C;
  std::int32_t correct = 0;
  for (std::int64_t n = 0; n < numbers.rows.N; ++n) {
    correct += argmax_of(f32(operands, 0) + n * C, C) == i32(operands, 1)[n] ? 1 : 0;
  }
  *i32(operands, 2) = correct;
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
