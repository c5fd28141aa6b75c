// Cast and Reorder: the same values in another element type, or another place.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/reference/kernel.h"

namespace stepscope::reference {
namespace {

// f(an element of the type): calls with the C++ type. Requires: f64, f32, i32 or u8.
template <class F>
void with_type(DType dtype, F f) {
  switch (dtype) {
    case DType::f64:
      return f(double{});
    case DType::f32:
      return f(float{});
    case DType::i32:
      return f(std::int32_t{});
    case DType::u8:
      return f(std::uint8_t{});
    case DType::bf16:
    case DType::f16:
      return;
  }
}

// Towards zero. What does not fit becomes the nearest that does, NaN becomes 0: callers must not
// count on it, but nothing undefined happens.
template <class To>
To whole(double x) {
  if (std::isnan(x)) return 0;
  return static_cast<To>(std::clamp(x, double{std::numeric_limits<To>::min()},
                                    double{std::numeric_limits<To>::max()}));
}

template <class To>
To converted(double x) {
  if constexpr (std::numeric_limits<To>::is_integer) {
    return whole<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace

// Every type fits into double, so each element is rounded or truncated once.
template <class T>
void Cast(const Call<T>& call) {
  const auto elements = static_cast<std::size_t>(call.in_shape(0).elements());
  const std::byte* x = call.operands[0];
  std::byte* y = call.operands[1];
  with_type(call.site.in[0].dtype, [&](auto from) {
    with_type(call.site.out[0].dtype, [&](auto to) {
      for (std::size_t i = 0; i < elements; ++i) {
        std::memcpy(&from, x + i * sizeof(from), sizeof(from));
        to = converted<decltype(to)>(static_cast<double>(from));
        std::memcpy(y + i * sizeof(to), &to, sizeof(to));
      }
    });
  });
}
STEPSCOPE_REFERENCE_KERNEL(Cast)

// Row-major to row-major, the only layout here: a copy.
template <class T>
void Reorder(const Call<T>& call) {
  std::memcpy(call.operands[1], call.operands[0], call.site.in[0].bytes());
}
STEPSCOPE_REFERENCE_KERNEL(Reorder)

}  // namespace stepscope::reference
