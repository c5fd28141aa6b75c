// The interposed functions. They stand before those of libc in the search order, since programs
// link this library first, and hand on to glibc's own names for the same functions.
// SPDX-License-Identifier: Apache-2.0
#include "tests/alloc/alloc_counter.h"

#include <execinfo.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* block);
}

namespace stepscope::alloc {
namespace {

std::atomic<bool> counting{false};
std::atomic<std::uint64_t> all_threads{0};
std::atomic<std::uint64_t> frees{0};
std::atomic<std::size_t> kept_count{0};
std::array<Allocation, kMostKept> kept;

// Initial-exec: reading them must not allocate, as lazily made thread storage would.
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t this_thread = 0;
[[gnu::tls_model("initial-exec")]] thread_local bool is_counting_thread = false;
[[gnu::tls_model("initial-exec")]] thread_local bool inside = false;  // backtrace may allocate

void keep_stack(std::size_t bytes) {
  const std::size_t at = kept_count.fetch_add(1);
  if (at >= kMostKept) return;
  std::array<void*, Allocation::kMostFrames> frames{};
  const int depth = ::backtrace(frames.data(), static_cast<int>(frames.size()));
  Allocation& made = kept[at];
  made.bytes = bytes;
  made.depth = static_cast<std::size_t>(std::max(depth, 0));
  made.on_counting_thread = is_counting_thread;
  std::copy(frames.begin(), frames.end(), made.frames.begin());
}

void count(std::size_t bytes) {
  if (!counting.load(std::memory_order_relaxed) || inside) return;
  inside = true;
  all_threads.fetch_add(1, std::memory_order_relaxed);
  ++this_thread;
  keep_stack(bytes);
  inside = false;
}

}  // namespace

void start() {
  void* frame = nullptr;
  ::backtrace(&frame, 1);  // the first call loads the unwinder, which allocates
  is_counting_thread = true;
  this_thread = 0;
  all_threads = 0;
  frees = 0;
  kept_count = 0;
  counting = true;
}

Count stop() {
  counting = false;
  is_counting_thread = false;
  return {
      all_threads, this_thread, frees, {kept.data(), std::min<std::size_t>(kept_count, kMostKept)}};
}

}  // namespace stepscope::alloc

extern "C" {

void* malloc(std::size_t bytes) noexcept {
  stepscope::alloc::count(bytes);
  return __libc_malloc(bytes);
}

void* calloc(std::size_t elements, std::size_t bytes) noexcept {
  stepscope::alloc::count(elements * bytes);
  return __libc_calloc(elements, bytes);
}

void* realloc(void* block, std::size_t bytes) noexcept {
  stepscope::alloc::count(bytes);
  return __libc_realloc(block, bytes);
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  stepscope::alloc::count(bytes);
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  stepscope::alloc::count(bytes);
  return __libc_memalign(alignment, bytes);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  const bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
  if (!power_of_two || alignment % sizeof(void*) != 0) return EINVAL;
  stepscope::alloc::count(bytes);
  void* made = __libc_memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

void free(void* block) noexcept {
  if (block != nullptr && stepscope::alloc::counting.load(std::memory_order_relaxed)) {
    stepscope::alloc::frees.fetch_add(1, std::memory_order_relaxed);
  }
  __libc_free(block);
}

}  // extern "C"
