// exp, tanh and the logistic function in f32, written so that compilers make vectors of them: no
// branch, no call, no table; an element's bits depend on its value alone, not on its place. Eigen's
// own clamp their argument, so that exp(-inf) is not 0 there.
//
// Largest error against the exact value, over every 11th float (a part of them is repeated in
// tests/backends/cpu/math_test.cpp): exp_of 0.98 ulp, tanh_of 1.4, logistic_of 2.4. Exact at 0
// and at both infinities; NaN gives NaN.
//
// Polynomials: S. Moshier, Cephes Math Library 2.2, single precision, expf.c and tanhf.c.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/kernels.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {

inline std::int32_t bits_of(float x) { return __builtin_bit_cast(std::int32_t, x); }

// 2^exponent. Requires: exponent in [-126, 127].
inline float power_of_two(std::int32_t exponent) {
  return __builtin_bit_cast(float, static_cast<std::uint32_t>(exponent + 127) << 23U);
}

inline float exp_of(float x) {
  // Beyond these the result is 0 or infinite: exp(-104) < 2^-150, exp(89) > 2^128. NaN passes.
  const float low = x < -104.0F ? -104.0F : x;
  const float bounded = low > 89.0F ? 89.0F : low;
  // x = n ln2 + r, n the nearest integer: adding 1.5 * 2^23 rounds to it and leaves it in the low
  // bits.
  constexpr float kShift = 12582912.0F;
  const float shifted = bounded * 1.44269504088896341F + kShift;
  const float n = shifted - kShift;
  // ln2 in two parts, the first of 9 bits: its product with n is exact.
  const float r = (bounded - n * 0.693359375F) - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  // 2^n in two factors, each in the normal range: one rounding where the result is subnormal.
  const std::int32_t exponent = bits_of(shifted) - bits_of(kShift);
  const std::int32_t half = exponent >> 1;
  return p * power_of_two(half) * power_of_two(exponent - half);
}

inline float tanh_of(float x) {
  const float size = __builtin_fabsf(x);
  const float square = x * x;
  float p = -5.70498872745e-3F;
  p = p * square + 2.06390887954e-2F;
  p = p * square - 5.37397155531e-2F;
  p = p * square + 1.33314422036e-1F;
  p = p * square - 3.33332819422e-1F;
  const float near_zero = p * square * x + x;
  const float far = 1.0F - 2.0F / (exp_of(size + size) + 1.0F);
  return size < 0.625F ? near_zero : __builtin_copysignf(far, x);
}

// 1 / (1 + exp(-x)), by way of exp(-|x|): nothing overflows, and small results keep their digits.
inline float logistic_of(float x) {
  const float tail = exp_of(-__builtin_fabsf(x));
  return (x >= 0.0F ? 1.0F : tail) / (1.0F + tail);
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
