// How often memory is asked for, by whomever: a program that links this has functions of its own in
// the place of the C library's malloc family, which count while they are told to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace stepscope::suites {

// Calls of malloc, calloc, realloc and the aligned ones while `work` runs, on all threads. Nothing
// in a build with sanitizers, which have an allocator of their own, and without the GNU C library.
std::optional<std::uint64_t> count_allocations(const std::function<void()>& work);

}  // namespace stepscope::suites
