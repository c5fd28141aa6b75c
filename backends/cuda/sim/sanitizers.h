// Sanitizers: what AddressSanitizer and ThreadSanitizer must be told of fibers and of shared
// memory. The only file that knows which of them is there; elsewhere the calls are empty.
//
// For ThreadSanitizer each CUDA thread is one of its fibers, and only kernels are instrumented: the
// simulator's own state is not looked at. Nothing orders two fibers but acquire() after release().
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

// g++ defines a macro, clang has a feature.
#if defined(__SANITIZE_ADDRESS__)
#define STEPSCOPE_CUDASIM_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define STEPSCOPE_CUDASIM_INSTRUMENTED 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STEPSCOPE_CUDASIM_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define STEPSCOPE_CUDASIM_INSTRUMENTED 1
#endif
#endif

#if defined(STEPSCOPE_CUDASIM_INSTRUMENTED)
#error "the simulator must not be instrumented by ThreadSanitizer: see stepscope_cudasim_tsan"
#endif

#if defined(STEPSCOPE_CUDASIM_ASAN)
#include <sanitizer/asan_interface.h>
#endif
#if defined(STEPSCOPE_CUDASIM_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace stepscope::cudasim {

#if defined(STEPSCOPE_CUDASIM_ASAN)
inline constexpr bool kAsan = true;
inline void poison(const void* data, std::size_t bytes) {
  __asan_poison_memory_region(data, bytes);
}
inline void unpoison(const void* data, std::size_t bytes) {
  __asan_unpoison_memory_region(data, bytes);
}
inline void asan_leave(void** fake, const void* bottom, std::size_t bytes) {
  __sanitizer_start_switch_fiber(fake, bottom, bytes);
}
inline void asan_arrive(void* fake, const void** bottom, std::size_t* bytes) {
  __sanitizer_finish_switch_fiber(fake, bottom, bytes);
}
#else
inline constexpr bool kAsan = false;
inline void poison(const void*, std::size_t) {}
inline void unpoison(const void*, std::size_t) {}
inline void asan_leave(void**, const void*, std::size_t) {}
inline void asan_arrive(void*, const void**, std::size_t*) {}
#endif

#if defined(STEPSCOPE_CUDASIM_TSAN)
inline constexpr bool kTsan = true;
inline void* tsan_current() { return __tsan_get_current_fiber(); }
inline void* tsan_create() { return __tsan_create_fiber(0); }
inline void tsan_destroy(void* fiber) { __tsan_destroy_fiber(fiber); }
inline void tsan_switch(void* fiber) {
  __tsan_switch_to_fiber(fiber, __tsan_switch_to_fiber_no_sync);
}
inline void acquire(void* object) { __tsan_acquire(object); }
inline void release(void* object) { __tsan_release(object); }
#else
inline constexpr bool kTsan = false;
inline void* tsan_current() { return nullptr; }
inline void* tsan_create() { return nullptr; }
inline void tsan_destroy(void*) {}
inline void tsan_switch(void*) {}
inline void acquire(void*) {}
inline void release(void*) {}
#endif

}  // namespace stepscope::cudasim
