// The pointwise loops. `omp simd` says what the ops allow: operands are one array or do not
// overlap.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/loops.h"

#include "backends/cpu/kernels/math.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {
namespace {

template <class F>
void map(const float* x, float* y, std::int64_t n, F f) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
}

template <class F>
void map(const float* a, const float* b, float* y, std::int64_t n, F f) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
}

}  // namespace

void relu(const float* x, float* y, std::int64_t n) {
  map(x, y, n, [](float v) { return v <= 0.0F ? 0.0F : v; });
}

void tanh(const float* x, float* y, std::int64_t n) { map(x, y, n, tanh_of); }

void sigmoid(const float* x, float* y, std::int64_t n) { map(x, y, n, logistic_of); }

void scale(const float* x, float factor, float* y, std::int64_t n) {
  map(x, y, n, [factor](float v) { return v * factor; });
}

void add(const float* a, const float* b, float* y, std::int64_t n) {
  map(a, b, y, n, [](float v, float w) { return v + w; });
}

void sub(const float* a, const float* b, float* y, std::int64_t n) {
  map(a, b, y, n, [](float v, float w) { return v - w; });
}

void mul(const float* a, const float* b, float* y, std::int64_t n) {
  map(a, b, y, n, [](float v, float w) { return v * w; });
}

// Both operands are arguments and so loaded for all: a load under a condition would not become a
// vector.
void relu_grad(const float* dy, const float* y, float* dx, std::int64_t n) {
  map(dy, y, dx, n, [](float slope, float v) { return v <= 0.0F ? 0.0F : slope; });
}

void tanh_grad(const float* dy, const float* y, float* dx, std::int64_t n) {
  map(dy, y, dx, n, [](float slope, float v) { return slope * (1.0F - v * v); });
}

void sigmoid_grad(const float* dy, const float* y, float* dx, std::int64_t n) {
  map(dy, y, dx, n, [](float slope, float v) { return slope * v * (1.0F - v); });
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
