// Cast between f32, f64, i32 and u8. To integers: truncated towards zero; what is out of their
// range becomes something unspecified.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <type_traits>

#include "backends/cpu/kernels/kernels.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {
namespace {

namespace types {
using f32 = float;
using f64 = double;
using i32 = std::int32_t;
using u8 = std::uint8_t;
}  // namespace types

// By way of i32 from floating to u8: a value out of range is undefined for the direct conversion.
template <class From, class To>
To cast_of(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, std::uint8_t>) {
    return static_cast<To>(static_cast<std::int32_t>(x));
  } else {
    return static_cast<To>(x);
  }
}

// By memcpy, so that an f64 may lie at a multiple of four.
template <class From, class To>
void cast(Operands operands, std::int64_t elements) {
  const std::byte* x = operands[0];
  std::byte* y = operands[1];
#pragma omp simd
  for (std::int64_t i = 0; i < elements; ++i) {
    From from;
    std::memcpy(&from, x + i * static_cast<std::int64_t>(sizeof(From)), sizeof(From));
    const To to = cast_of<From, To>(from);
    std::memcpy(y + i * static_cast<std::int64_t>(sizeof(To)), &to, sizeof(To));
  }
}

}  // namespace

// x, y {elements}
#define STEPSCOPE_CPU_CAST(from, to)                                               \
  void Cast_##from##_##to(Operands operands, std::byte*, const Numbers& numbers) { \
    cast<types::from, types::to>(operands, numbers.elements.elements);             \
  }
#define STEPSCOPE_CPU_CASTS(from) \
  STEPSCOPE_CPU_CAST(from, f32)   \
  STEPSCOPE_CPU_CAST(from, f64)   \
  STEPSCOPE_CPU_CAST(from, i32)   \
  STEPSCOPE_CPU_CAST(from, u8)
STEPSCOPE_CPU_CASTS(f32)
STEPSCOPE_CPU_CASTS(f64)
STEPSCOPE_CPU_CASTS(i32)
STEPSCOPE_CPU_CASTS(u8)
#undef STEPSCOPE_CPU_CASTS
#undef STEPSCOPE_CPU_CAST

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
