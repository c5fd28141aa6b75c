// How a reference kernel is written: one function template over the storage type, given the site
// and the addresses. A kernel for a line of op_list.inc is a function `void Name(const Call<T>&)`
// in one of the files here, defined by STEPSCOPE_REFERENCE_KERNEL; a missing one is a link error
// that names it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

#include "backends/api/kernel.h"

namespace stepscope::reference {

// T is the floating storage type of the site: float or double. Arithmetic is in double throughout
// and rounded once, when a result is stored.
template <class T>
struct Call {
  const OpSite& site;
  std::byte* const* operands;

  const T* in(std::size_t i) const { return reinterpret_cast<const T*>(operands[i]); }
  T* out(std::size_t i) const { return reinterpret_cast<T*>(operands[site.in.size() + i]); }
  const std::int32_t* in_i32(std::size_t i) const {
    return reinterpret_cast<const std::int32_t*>(operands[i]);
  }
  std::int32_t* out_i32(std::size_t i) const {
    return reinterpret_cast<std::int32_t*>(operands[site.in.size() + i]);
  }
  const std::uint8_t* in_u8(std::size_t i) const {
    return reinterpret_cast<const std::uint8_t*>(operands[i]);
  }
  std::uint8_t* out_u8(std::size_t i) const {
    return reinterpret_cast<std::uint8_t*>(operands[site.in.size() + i]);
  }
  const Shape& in_shape(std::size_t i) const { return site.in[i].shape; }
  const Shape& out_shape(std::size_t i) const { return site.out[i].shape; }
  template <class A>
  const A& attrs() const {
    return std::get<A>(site.attrs);
  }
};

#define STEPSCOPE_OP(name)                       \
  template <class T>                             \
  void name(const Call<T>&);                     \
  extern template void name(const Call<float>&); \
  extern template void name(const Call<double>&);
#include "ops/ir/op_list.inc"
#undef STEPSCOPE_OP

// Behind the definition of a kernel: both storage types.
#define STEPSCOPE_REFERENCE_KERNEL(name)  \
  template void name(const Call<float>&); \
  template void name(const Call<double>&);

}  // namespace stepscope::reference
