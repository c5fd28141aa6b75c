// Softmax with cross-entropy, its gradient, both at once, argmax and the count of correct rows.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "backends/reference/kernel.h"
#include "ops/ir/labels.h"

namespace stepscope::reference {
namespace {

// row {C}: the first largest; a NaN counts as largest.
template <class T>
std::int64_t argmax_of(const T* row, std::int64_t C) {
  std::int64_t best = 0;
  for (std::int64_t c = 0; c < C; ++c) {
    if (std::isnan(row[c])) return c;
    if (row[c] > row[best]) best = c;
  }
  return best;
}

// How many of labels {N} name a class: the rows that the mean is over.
double rows_left(const std::int32_t* labels, std::int64_t N) {
  std::int64_t left = 0;
  for (std::int64_t n = 0; n < N; ++n) {
    if (!left_out(labels[n])) ++left;
  }
  return static_cast<double>(left);
}

// Calls store(n, c, probability) for each logit, also of rows left out, and returns the loss: the
// mean over the rows that are not left out, NaN for none.
// Subtracts the row's maximum and clamps nothing.
template <class T, class Store>
double each_probability(const Call<T>& call, Store store) {
  const std::int64_t N = call.in_shape(0)[0];
  const std::int64_t C = call.in_shape(0)[1];
  const std::int32_t* labels = call.in_i32(1);
  double loss = 0.0;
  for (std::int64_t n = 0; n < N; ++n) {
    const T* row = call.in(0) + n * C;
    const double largest = row[argmax_of(row, C)];
    double sum = 0.0;
    for (std::int64_t c = 0; c < C; ++c) sum += std::exp(double{row[c]} - largest);
    if (!left_out(labels[n])) loss += std::log(sum) - (double{row[labels[n]]} - largest);
    for (std::int64_t c = 0; c < C; ++c) store(n, c, std::exp(double{row[c]} - largest) / sum);
  }
  return loss / rows_left(labels, N);
}

// Of one logit of a row that is not left out.
double slope(double probability, bool hot, double left) {
  return (probability - (hot ? 1.0 : 0.0)) / left;
}

}  // namespace

// logits {N, C}, labels i32{N} -> loss {}, probabilities {N, C}
template <class T>
void SoftmaxCrossEntropy(const Call<T>& call) {
  const std::int64_t C = call.in_shape(0)[1];
  T* probabilities = call.out(1);
  *call.out(0) = static_cast<T>(
      each_probability(call, [&](std::int64_t n, std::int64_t c, double probability) {
        probabilities[n * C + c] = static_cast<T>(probability);
      }));
}
STEPSCOPE_REFERENCE_KERNEL(SoftmaxCrossEntropy)

// logits {N, C}, labels i32{N}[, rate {}] -> loss {}, d_logits {N, C}
template <class T>
void SoftmaxCrossEntropyWithGrad(const Call<T>& call) {
  const std::int64_t N = call.in_shape(0)[0];
  const std::int64_t C = call.in_shape(0)[1];
  const std::int32_t* labels = call.in_i32(1);
  const double left = rows_left(labels, N);
  const double rate = call.site.in.size() == 3 ? double{*call.in(2)} : 1.0;
  T* d_logits = call.out(1);
  *call.out(0) = static_cast<T>(
      each_probability(call, [&](std::int64_t n, std::int64_t c, double probability) {
        const double gradient = slope(probability, labels[n] == c, left) * rate;
        d_logits[n * C + c] = left_out(labels[n]) ? T{0} : static_cast<T>(gradient);
      }));
}
STEPSCOPE_REFERENCE_KERNEL(SoftmaxCrossEntropyWithGrad)

// probabilities {N, C}, labels i32{N}[, d_loss {}] -> d_logits {N, C}
template <class T>
void SoftmaxCrossEntropyGrad(const Call<T>& call) {
  const std::int64_t N = call.in_shape(0)[0];
  const std::int64_t C = call.in_shape(0)[1];
  const T* probabilities = call.in(0);
  const std::int32_t* labels = call.in_i32(1);
  T* d_logits = call.out(0);
  const double left = rows_left(labels, N);
  const double d_loss = call.site.in.size() == 3 ? double{*call.in(2)} : 1.0;
  for (std::int64_t n = 0; n < N; ++n) {
    for (std::int64_t c = 0; c < C; ++c) {
      const double gradient =
          slope(double{probabilities[n * C + c]}, labels[n] == c, left) * d_loss;
      d_logits[n * C + c] = left_out(labels[n]) ? T{0} : static_cast<T>(gradient);
    }
  }
}
STEPSCOPE_REFERENCE_KERNEL(SoftmaxCrossEntropyGrad)

// x {N, C} -> i32{N}
template <class T>
void Argmax(const Call<T>& call) {
  const std::int64_t C = call.in_shape(0)[1];
  for (std::int64_t n = 0; n < call.in_shape(0)[0]; ++n) {
    call.out_i32(0)[n] = static_cast<std::int32_t>(argmax_of(call.in(0) + n * C, C));
  }
}
STEPSCOPE_REFERENCE_KERNEL(Argmax)

// logits {N, C}, labels i32{N} -> i32{}; the label of a row left out is no row's argmax
template <class T>
void CorrectCount(const Call<T>& call) {
  const std::int64_t C = call.in_shape(0)[1];
  std::int32_t correct = 0;
  for (std::int64_t n = 0; n < call.in_shape(0)[0]; ++n) {
    if (argmax_of(call.in(0) + n * C, C) == call.in_i32(1)[n]) ++correct;
  }
  *call.out_i32(0) = correct;
}
STEPSCOPE_REFERENCE_KERNEL(CorrectCount)

}  // namespace stepscope::reference
