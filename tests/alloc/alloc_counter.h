// Counts heap allocations of the whole process while switched on, whoever makes them: a shared
// library in front of the C library's malloc family. For tests.
// It keeps the call stacks of the first allocations, so that an unexpected one can be named.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace stepscope::alloc {

struct Allocation {
  static constexpr std::size_t kMostFrames = 40;
  std::size_t bytes = 0;
  std::size_t depth = 0;                          // of the frames below
  std::array<const void*, kMostFrames> frames{};  // return addresses, innermost first
  bool on_counting_thread = false;                // the one that called start()

  std::span<const void* const> stack() const { return {frames.data(), depth}; }
};

struct Count {
  std::uint64_t all_threads = 0;  // malloc, calloc, realloc, aligned ones; a free is none
  std::uint64_t this_thread = 0;  // of these, on the thread that called start()
  std::uint64_t frees = 0;
  std::span<const Allocation> kept;  // the first ones; good until the next start()
};

inline constexpr std::size_t kMostKept = 4096;

// One measurement at a time. Neither call allocates once start() has been called before.
void start();
Count stop();

}  // namespace stepscope::alloc
