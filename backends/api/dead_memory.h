// Dead memory made visible: filled with NaN patterns in debug builds, poisoned under
// AddressSanitizer, left alone in release builds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define STEPSCOPE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STEPSCOPE_ASAN 1
#endif
#endif
#ifndef STEPSCOPE_ASAN
#define STEPSCOPE_ASAN 0
#endif

#if STEPSCOPE_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace stepscope {

#ifdef NDEBUG
inline constexpr bool kFillDeadMemory = false;
#else
inline constexpr bool kFillDeadMemory = true;
#endif

// Whether executors need to tell what died: false in release builds, where it would cost time.
inline constexpr bool kTrackDeadMemory = kFillDeadMemory || STEPSCOPE_ASAN != 0;

inline void poison_memory([[maybe_unused]] std::byte* data, [[maybe_unused]] std::size_t bytes) {
#if STEPSCOPE_ASAN
  __asan_poison_memory_region(data, bytes);
#endif
}

inline void unpoison_memory([[maybe_unused]] std::byte* data, [[maybe_unused]] std::size_t bytes) {
#if STEPSCOPE_ASAN
  __asan_unpoison_memory_region(data, bytes);
#endif
}

// All ones: a NaN in every floating type, -1 in i32.
inline void fill_dead_memory(std::byte* data, std::size_t bytes) { std::memset(data, 0xFF, bytes); }

}  // namespace stepscope
