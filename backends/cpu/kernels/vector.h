// Vectors of 4, 8 and 16 floats or ints as the compilers' vector extension has them, and a sweep
// over a row with the widest that fit. A vector of one is the element itself, so that the rest of a
// short row needs no code of its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "backends/cpu/kernels/kernels.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {

#if defined(__AVX512F__)
inline constexpr int kWidth = 16;  // floats in a register
#elif defined(__AVX__)
inline constexpr int kWidth = 8;
#else
inline constexpr int kWidth = 4;
#endif

template <int kN>
struct Vector;

template <>
struct Vector<1> {
  using Floats = float;
  using Ints = std::int32_t;
  using Bytes = std::uint8_t;
};

template <>
struct Vector<4> {
  typedef float Floats __attribute__((vector_size(16)));
  typedef std::int32_t Ints __attribute__((vector_size(16)));
  typedef std::uint8_t Bytes __attribute__((vector_size(4)));
};

#if defined(__AVX__)
template <>
struct Vector<8> {
  typedef float Floats __attribute__((vector_size(32)));
  typedef std::int32_t Ints __attribute__((vector_size(32)));
  typedef std::uint8_t Bytes __attribute__((vector_size(8)));
};
#endif

#if defined(__AVX512F__)
template <>
struct Vector<16> {
  typedef float Floats __attribute__((vector_size(64)));
  typedef std::int32_t Ints __attribute__((vector_size(64)));
  typedef std::uint8_t Bytes __attribute__((vector_size(16)));
};
#endif

template <int kN>
using Floats = typename Vector<kN>::Floats;
template <int kN>
using Ints = typename Vector<kN>::Ints;

// At any address.
template <int kN>
inline Floats<kN> load(const float* x) {
  Floats<kN> v;
  std::memcpy(&v, x, sizeof v);
  return v;
}

template <int kN>
inline void store(float* x, Floats<kN> v) {
  std::memcpy(x, &v, sizeof v);
}

template <int kN>
inline Ints<kN> load_places(const std::int32_t* places) {
  Ints<kN> v;
  std::memcpy(&v, places, sizeof v);
  return v;
}

template <int kN>
inline void store_places(std::int32_t* places, Ints<kN> v) {
  std::memcpy(places, &v, sizeof v);
}

// Small numbers, one byte each.
template <int kN>
inline Ints<kN> load_places(const std::uint8_t* places) {
  if constexpr (kN == 1) {
    return *places;
  } else {
    typename Vector<kN>::Bytes v;
    std::memcpy(&v, places, sizeof v);
    return __builtin_convertvector(v, Ints<kN>);
  }
}

template <int kN>
inline void store_places(std::uint8_t* places, Ints<kN> v) {
  if constexpr (kN == 1) {
    *places = static_cast<std::uint8_t>(v);
  } else {
    const auto bytes = __builtin_convertvector(v, typename Vector<kN>::Bytes);
    std::memcpy(places, &bytes, sizeof bytes);
  }
}

template <int kN>
inline Floats<kN> all(float x) {
  return Floats<kN>{} + x;
}

// Elements 0, 2, 4, ... of a and b side by side.
template <int kN>
inline Floats<kN> even(Floats<kN> a, Floats<kN> b) {
  if constexpr (kN == 4) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6);
  } else if constexpr (kN == 8) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
  } else if constexpr (kN == 16) {
    return __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  }
}

// Elements 1, 3, 5, ... of a and b side by side.
template <int kN>
inline Floats<kN> odd(Floats<kN> a, Floats<kN> b) {
  if constexpr (kN == 4) {
    return __builtin_shufflevector(a, b, 1, 3, 5, 7);
  } else if constexpr (kN == 8) {
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
  } else if constexpr (kN == 16) {
    return __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  }
}

// a0, b0, a1, b1, ...: the first half.
template <int kN>
inline Floats<kN> zip_low(Floats<kN> a, Floats<kN> b) {
  if constexpr (kN == 4) {
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
  } else if constexpr (kN == 8) {
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  } else if constexpr (kN == 16) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  }
}

// The second half.
template <int kN>
inline Floats<kN> zip_high(Floats<kN> a, Floats<kN> b) {
  if constexpr (kN == 4) {
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
  } else if constexpr (kN == 8) {
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  } else if constexpr (kN == 16) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                   31);
  }
}

// Calls run.template operator()<width>() with the widest vectors of which n is a multiple; false
// where there are none.
template <class Run>
inline bool in_whole_vectors(std::int64_t n, Run run) {
  if constexpr (kWidth >= 16) {
    if (n % 16 == 0) return run.template operator()<16>(), true;
  }
  if constexpr (kWidth >= 8) {
    if (n % 8 == 0) return run.template operator()<8>(), true;
  }
  if (n % 4 == 0) return run.template operator()<4>(), true;
  return false;
}

// Calls step.template operator()<width>(i) so that [i, i + width) cover [0, n). The last of a row
// that holds a vector may overlap the one before. Requires: doing an element twice does no harm.
template <class Step>
inline __attribute__((always_inline)) void sweep(std::int64_t n, Step step) {
  const auto in_steps_of = [ n, step ]<int kN>() __attribute__((always_inline)) {
    std::int64_t i = 0;
    for (; i + kN <= n; i += kN) step.template operator()<kN>(i);
    if (i < n) step.template operator()<kN>(n - kN);
  };
  if constexpr (kWidth >= 16) {
    if (n >= 16) return in_steps_of.template operator()<16>();
  }
  if constexpr (kWidth >= 8) {
    if (n >= 8) return in_steps_of.template operator()<8>();
  }
  if (n >= 4) return in_steps_of.template operator()<4>();
  for (std::int64_t i = 0; i < n; ++i) step.template operator()<1>(i);
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
