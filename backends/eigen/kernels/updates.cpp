// Updates: each output lies where the input it overwrites lies. The rate is read from memory at
// each launch.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "backends/eigen/kernels/kernels.h"
#include "backends/eigen/kernels/library.h"

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {

// W, g, rate {}[, step] -> W - rate g[, step + 1]
void SgdUpdate(Operands operands, const Sgd& site) {
  const auto n = site.elements;
  const auto w = in(operands, 0, n);
  const auto g = in(operands, 1, n);
  const float rate = *f32(operands, 2);
  out(operands, site.advance_step ? 4 : 3, n) = w - rate * g;
  if (site.advance_step) *i32(operands, 5) = *i32(operands, 3) + 1;
}

// W, g, v, rate {}[, step] -> W - rate v', v' = mu v + g[, step + 1]
void MomentumUpdate(Operands operands, const Momentum& site) {
  const auto n = site.elements;
  const auto w = in(operands, 0, n);
  const auto g = in(operands, 1, n);
  const auto v = in(operands, 2, n);
  const float rate = *f32(operands, 3);
  const int first_out = site.advance_step ? 5 : 4;
  auto v_out = out(operands, first_out + 1, n);
  v_out = site.mu * v + g;
  out(operands, first_out, n) = w - rate * v_out;
  if (site.advance_step) *i32(operands, first_out + 2) = *i32(operands, 4) + 1;
}

// W, g, m, v, rate {}, step -> W', m' = b1 m + (1 - b1) g, v' = b2 v + (1 - b2) g g[, step + 1]
// with t = step + 1 and W' = W - rate (m' / (1 - b1^t)) / (sqrt(v' / (1 - b2^t)) + epsilon).
// An own loop: as Eigen expressions these would be three passes over the memory.
void AdamUpdate(Operands operands, const Adam& site) {
  const float* w = f32(operands, 0);
  const float* g = f32(operands, 1);
  const float* m = f32(operands, 2);
  const float* v = f32(operands, 3);
  const float rate = *f32(operands, 4);
  const std::int32_t step = *i32(operands, 5);
  float* w_out = f32(operands, 6);
  float* m_out = f32(operands, 7);
  float* v_out = f32(operands, 8);
  // The corrections, and the rate with the first of them, as factors taken once in f64: one
  // quotient and one root remain for each element.
  const double t = step + 1.0;
  const auto scaled_rate = static_cast<float>(double{rate} / (1.0 - std::pow(site.beta1, t)));
  const auto root_factor = static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(site.beta2, t)));
  const auto beta1 = static_cast<float>(site.beta1);
  const auto beta2 = static_cast<float>(site.beta2);
  const auto rest1 = static_cast<float>(1.0 - site.beta1);
  const auto rest2 = static_cast<float>(1.0 - site.beta2);
#pragma omp simd
  for (std::int64_t i = 0; i < site.elements; ++i) {
    const float slope = g[i];
    const float mean = beta1 * m[i] + rest1 * slope;
    const float square = beta2 * v[i] + rest2 * slope * slope;
    const float root = __builtin_sqrtf(square) * root_factor + site.epsilon;
    m_out[i] = mean;
    v_out[i] = square;
    w_out[i] = w[i] - scaled_rate * mean / root;
  }
  if (site.advance_step) *i32(operands, 9) = step + 1;
}

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
