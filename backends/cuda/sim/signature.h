// Signature: what the types of a kernel's parameters were, kept from the typed launch. CUDA's C
// entry point loses them, and without them no parameter can be copied, checked or passed to a C++
// function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace stepscope::cudasim {

struct Parameter {
  std::uint32_t size, alignment;  // bytes
  std::uint32_t offset;           // in the packed arguments of a launch
  bool pointer;                   // else a value that may hold pointers
};

// Visits each aligned word of a parameter's value that can be a pointer, with its offset in the
// value. `arguments`: packed, of a launch. Types are lost, so that numbers are visited, too.
template <class Visit>
void each_word(const Parameter& parameter, const std::byte* arguments, Visit visit) {
  if (parameter.alignment < alignof(void*)) return;
  for (std::uint32_t at = 0; at + sizeof(void*) <= parameter.size; at += sizeof(void*)) {
    const void* word = nullptr;
    std::memcpy(&word, arguments + parameter.offset + at, sizeof word);
    visit(at, word);
  }
}

struct Signature {
  // Calls `function` with the arguments that the pointers point to, on the calling (device) thread.
  void (*invoke)(const void* function, void* const* arguments);
  std::span<const Parameter> parameters;
  std::uint32_t bytes;  // of the packed arguments
};

namespace detail {

template <std::size_t N>
struct Packed {
  std::array<Parameter, N> parameters{};
  std::uint32_t bytes = 0;
};

template <class... P>
constexpr Packed<sizeof...(P)> pack() {
  Packed<sizeof...(P)> packed{{{{sizeof(P), alignof(P), 0, std::is_pointer_v<P>}...}}, 0};
  for (Parameter& parameter : packed.parameters) {
    packed.bytes =
        (packed.bytes + parameter.alignment - 1) / parameter.alignment * parameter.alignment;
    parameter.offset = packed.bytes;
    packed.bytes += parameter.size;
  }
  return packed;
}

template <class... P, std::size_t... I>
void invoke(const void* function, void* const* arguments, std::index_sequence<I...>) {
  reinterpret_cast<void (*)(P...)>(const_cast<void*>(function))(*static_cast<P*>(arguments[I])...);
}

}  // namespace detail

// The one signature of kernels with these parameter types.
template <class... P>
struct SignatureOf {
  static_assert((std::is_trivially_copyable_v<P> && ...),
                "a kernel's parameters are copied as bytes");
  static constexpr auto packed = detail::pack<P...>();
  static void invoke(const void* function, void* const* arguments) {
    detail::invoke<P...>(function, arguments, std::index_sequence_for<P...>{});
  }
  static constexpr Signature value{&invoke, packed.parameters, packed.bytes};
};

// Makes a kernel known by its address; again is free. A launch of an unknown one is refused (98).
void register_kernel(const void* function, const Signature& signature);
const Signature* signature_of(const void* function);  // null: never registered

}  // namespace stepscope::cudasim
