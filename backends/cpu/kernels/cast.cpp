// Cast between f32, f64, i32 and u8. To integers: truncated towards zero; what is out of their
// range becomes something unspecified.
// SPDX-License-Identifier: Apache-2.0
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

template <class From, class To>
void cast(Operands operands, std::int64_t elements) {
  const auto* x = reinterpret_cast<const From*>(operands[0]);
  auto* y = reinterpret_cast<To*>(operands[1]);
#pragma omp simd
  for (std::int64_t i = 0; i < elements; ++i) y[i] = cast_of<From, To>(x[i]);
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
