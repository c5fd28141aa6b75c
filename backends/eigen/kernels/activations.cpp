// Relu, Tanh, Sigmoid and the gradient of Relu: own loops, because Eigen's take other values at
// NaN, at infinity or in the tails. `omp simd` says what the op allows: x and y are one array or do
// not overlap.
// SPDX-License-Identifier: Apache-2.0
#include "backends/eigen/kernels/kernels.h"
#include "backends/eigen/kernels/math.h"

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {
namespace {

// x {elements} -> y {elements}
template <class F>
void map(Operands operands, const Elements& site, F f) {
  const float* x = f32(operands, 0);
  float* y = f32(operands, 1);
#pragma omp simd
  for (std::int64_t i = 0; i < site.elements; ++i) y[i] = f(x[i]);
}

}  // namespace

// NaN stays NaN; -0 and everything below become +0.
void Relu(Operands operands, const Elements& site) {
  map(operands, site, [](float x) { return x <= 0.0F ? 0.0F : x; });
}

void Tanh(Operands operands, const Elements& site) { map(operands, site, tanh_of); }

void Sigmoid(Operands operands, const Elements& site) { map(operands, site, logistic_of); }

// dy, y -> dx: zero where y <= 0; a NaN in y lets dy through.
void ReluGrad(Operands operands, const Elements& site) {
  const float* dy = f32(operands, 0);
  const float* y = f32(operands, 1);
  float* dx = f32(operands, 2);
#pragma omp simd
  for (std::int64_t i = 0; i < site.elements; ++i) {
    const float slope = dy[i];  // for all: a load under a condition would not become a vector
    dx[i] = y[i] <= 0.0F ? 0.0F : slope;
  }
}

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
