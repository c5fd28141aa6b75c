// The rate of a step by its schedule (ops/ir/schedule_attrs.h): one source for the kernels of
// processors and of CUDA, so that they give the same bits.
//
// A compiler may turn a product and the sum behind it into one operation that rounds once, and not
// all do. Here every such pair is an fma() already, and a product that a sum could meet is
// fma(a, b, 0). The rest are single operations of IEEE 754; of the math library there is fma alone,
// which is exact. Who compiles this for another processor defines STEPSCOPE_RATE_FUNCTION first.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "backends/api/schedule_numbers.h"

#ifndef STEPSCOPE_RATE_FUNCTION
#define STEPSCOPE_RATE_FUNCTION inline
#endif

// Each translation unit has its own: the CPU kernels are compiled for several instruction sets.
namespace stepscope {
namespace {

// hi + lo: what rounding took from hi stands in lo.
struct TwoPart {
  double hi, lo;
};

STEPSCOPE_RATE_FUNCTION TwoPart product(TwoPart a, TwoPart b) {
  const double hi = fma(a.hi, b.hi, 0.0);
  const double lost = fma(a.hi, b.hi, -hi);
  return {hi, fma(a.hi, b.lo, fma(a.lo, b.hi, fma(a.lo, b.lo, lost)))};
}

// base^exponent by squares. In f64 alone each square would double the error of the one before.
STEPSCOPE_RATE_FUNCTION double power(double base, std::uint32_t exponent) {
  TwoPart result{1.0, 0.0}, square{base, 0.0};
  while (exponent != 0) {
    if ((exponent & 1) != 0) result = product(result, square);
    exponent >>= 1;
    if (exponent != 0) square = product(square, square);
  }
  return result.hi - result.hi == 0.0 ? result.hi + result.lo : result.hi;  // infinite: no lo
}

// sin(x)^2, x in [0, pi / 4]: Taylor's series of the sine up to x^17. The term behind it is below
// 2^-60 of the sum.
STEPSCOPE_RATE_FUNCTION double sine_squared(double x) {
  const double z = x * x;
  double sum = 1.0 / 355687428096000.0;
  sum = fma(sum, z, -1.0 / 1307674368000.0);
  sum = fma(sum, z, 1.0 / 6227020800.0);
  sum = fma(sum, z, -1.0 / 39916800.0);
  sum = fma(sum, z, 1.0 / 362880.0);
  sum = fma(sum, z, -1.0 / 5040.0);
  sum = fma(sum, z, 1.0 / 120.0);
  sum = fma(sum, z, -1.0 / 6.0);
  const double sine = fma(sum * z, x, x);
  return fma(sine, sine, 0.0);
}

// (1 + cos(pi part / whole)) / 2, 0 <= part <= whole, as the square of a sine or as what it lacks
// of one: nothing cancels, and both ends are exact.
STEPSCOPE_RATE_FUNCTION double cosine_share(std::int32_t part, std::int32_t whole) {
  constexpr double kHalfPi = 1.57079632679489661923;
  const std::int32_t left = whole - part;
  const bool falling = part > left;
  const double angle = kHalfPi * (falling ? left : part) / whole;
  const double square = sine_squared(angle);
  return falling ? square : 1.0 - square;
}

STEPSCOPE_RATE_FUNCTION double schedule_factor(const ScheduleNumbers& numbers,
                                               std::int32_t finished) {
  std::int32_t step = finished < 0 ? 0 : finished;
  if (step < numbers.warmup) {
    const double done = static_cast<double>(step) / numbers.warmup;
    return fma(1.0 - numbers.start, done, numbers.start);
  }
  step -= numbers.warmup;
  switch (numbers.decay) {
    case ScheduleNumbers::Decay::none:
      break;
    case ScheduleNumbers::Decay::power:
      return power(numbers.factor, static_cast<std::uint32_t>(step / numbers.steps));
    case ScheduleNumbers::Decay::cosine:
      if (step >= numbers.steps) return numbers.floor;
      return fma(1.0 - numbers.floor, cosine_share(step, numbers.steps), numbers.floor);
  }
  return 1.0;
}

STEPSCOPE_RATE_FUNCTION float scheduled_rate(const ScheduleNumbers& numbers, float rate,
                                             std::int32_t finished) {
  return static_cast<float>(static_cast<double>(rate) * schedule_factor(numbers, finished));
}

}  // namespace
}  // namespace stepscope
