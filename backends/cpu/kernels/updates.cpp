// Updates of one or more tensors: each output lies where the input it overwrites lies. The rate is
// read from memory at each launch. All parameters come first, then all gradients and so on.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/loops.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {
namespace {

// The factors of Adam, taken once in f64: one quotient and one root remain for each element.
struct AdamFactors {
  float beta1, beta2, rest1, rest2, scaled_rate, root_factor, epsilon;
};

AdamFactors adam_factors(const Update& site, float rate, std::int32_t step) {
  const double t = step + 1.0;
  return {static_cast<float>(site.beta1),
          static_cast<float>(site.beta2),
          static_cast<float>(1.0 - site.beta1),
          static_cast<float>(1.0 - site.beta2),
          static_cast<float>(double{rate} / (1.0 - std::pow(site.beta1, t))),
          static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(site.beta2, t))),
          site.epsilon};
}

// in: w, g, m, v; out: w', m', v'; all {n}
void adam(const float* const (&in)[4], float* const (&out)[3], const AdamFactors& factors,
          std::int64_t n) {
  const float *w = in[0], *g = in[1], *m = in[2], *v = in[3];
  float *w_out = out[0], *m_out = out[1], *v_out = out[2];
  const AdamFactors f = factors;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float slope = g[i];
    const float mean = f.beta1 * m[i] + f.rest1 * slope;
    const float square = f.beta2 * v[i] + f.rest2 * slope * slope;
    const float root = __builtin_sqrtf(square) * f.root_factor + f.epsilon;
    m_out[i] = mean;
    v_out[i] = square;
    w_out[i] = w[i] - f.scaled_rate * mean / root;
  }
}

void sgd(const float* w, const float* g, float rate, float* w_out, std::int64_t n) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) w_out[i] = w[i] - rate * g[i];
}

void momentum(const float* const (&in)[3], float mu, float rate, float* w_out, float* v_out,
              std::int64_t n) {
  const float *w = in[0], *g = in[1], *v = in[2];
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float velocity = mu * v[i] + g[i];
    v_out[i] = velocity;
    w_out[i] = w[i] - rate * velocity;
  }
}

}  // namespace

// W..., g...[, rate {}][, step] -> (W - rate g)...[, step + 1]; without a rate W - g
void SgdUpdate(Operands operands, std::byte*, const Numbers& numbers) {
  const Update& site = numbers.update;
  const int n = site.tensors;
  const int step = 2 * n + (site.scaled_gradient ? 0 : 1);
  const int first_out = step + (site.advance_step ? 1 : 0);
  for (int t = 0; t < n; ++t) {
    const float* w = f32(operands, t);
    const float* g = f32(operands, n + t);
    if (site.scaled_gradient) {
      sub(w, g, f32(operands, first_out + t), site.elements[t]);
    } else {
      sgd(w, g, *f32(operands, 2 * n), f32(operands, first_out + t), site.elements[t]);
    }
  }
  if (site.advance_step) *i32(operands, first_out + n) = *i32(operands, step) + 1;
}

// W..., g..., v..., rate {}[, step] -> (W - rate v')..., v'..., v' = mu v + g[, step + 1]
void MomentumUpdate(Operands operands, std::byte*, const Numbers& numbers) {
  const Update& site = numbers.update;
  const int n = site.tensors;
  const float rate = *f32(operands, 3 * n);
  const int first_out = 3 * n + (site.advance_step ? 2 : 1);
  for (int t = 0; t < n; ++t) {
    momentum({f32(operands, t), f32(operands, n + t), f32(operands, 2 * n + t)}, site.mu, rate,
             f32(operands, first_out + t), f32(operands, first_out + n + t), site.elements[t]);
  }
  if (site.advance_step) *i32(operands, first_out + 2 * n) = *i32(operands, 3 * n + 1) + 1;
}

// W..., g..., m..., v..., rate {}, step -> W'..., m' = b1 m + (1 - b1) g ...,
// v' = b2 v + (1 - b2) g g ...[, step + 1], with t = step + 1 and
// W' = W - rate (m' / (1 - b1^t)) / (sqrt(v' / (1 - b2^t)) + epsilon).
void AdamUpdate(Operands operands, std::byte*, const Numbers& numbers) {
  const Update& site = numbers.update;
  const int n = site.tensors;
  const std::int32_t step = *i32(operands, 4 * n + 1);
  const AdamFactors factors = adam_factors(site, *f32(operands, 4 * n), step);
  const int first_out = 4 * n + 2;
  for (int t = 0; t < n; ++t) {
    adam({f32(operands, t), f32(operands, n + t), f32(operands, 2 * n + t),
          f32(operands, 3 * n + t)},
         {f32(operands, first_out + t), f32(operands, first_out + n + t),
          f32(operands, first_out + 2 * n + t)},
         factors, site.elements[t]);
  }
  if (site.advance_step) *i32(operands, first_out + 3 * n) = step + 1;
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
