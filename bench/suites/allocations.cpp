// The functions that stand before those of the C library in the search order, since the program has
// them itself; they hand on to glibc's own names for the same functions.
// SPDX-License-Identifier: Apache-2.0
#include "bench/suites/allocations.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define STEPSCOPE_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STEPSCOPE_SANITIZED 1
#endif
#if defined(__GLIBC__) && !defined(STEPSCOPE_SANITIZED)
#define STEPSCOPE_COUNTS_ALLOCATIONS 1
#endif

namespace stepscope::suites {
namespace {

#if defined(STEPSCOPE_COUNTS_ALLOCATIONS)
// Constant-initialized: malloc is called before anything of the program runs.
constinit std::atomic<bool> counting{false};
constinit std::atomic<std::uint64_t> counted{0};

void count() noexcept {
  if (counting.load(std::memory_order_relaxed)) counted.fetch_add(1, std::memory_order_relaxed);
}
#endif

}  // namespace

std::optional<std::uint64_t> count_allocations(const std::function<void()>& work) {
#if defined(STEPSCOPE_COUNTS_ALLOCATIONS)
  const std::uint64_t before = counted;
  counting = true;
  try {
    work();
  } catch (...) {
    counting = false;
    throw;
  }
  counting = false;
  return counted - before;
#else
  work();
  return std::nullopt;
#endif
}

}  // namespace stepscope::suites

#if defined(STEPSCOPE_COUNTS_ALLOCATIONS)
extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

void* malloc(std::size_t bytes) noexcept {
  stepscope::suites::count();
  return __libc_malloc(bytes);
}

void* calloc(std::size_t elements, std::size_t bytes) noexcept {
  stepscope::suites::count();
  return __libc_calloc(elements, bytes);
}

void* realloc(void* block, std::size_t bytes) noexcept {
  stepscope::suites::count();
  return __libc_realloc(block, bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  stepscope::suites::count();
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  stepscope::suites::count();
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  const bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!power_of_two || alignment % sizeof(void*) != 0) return EINVAL;
  stepscope::suites::count();
  void* made = __libc_memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

}  // extern "C"
#endif
