// Shared memory: one arena for the block that runs, cut at the sizes that were declared.
//
// Arrays stand apart, poisoned in between. One that promises its elements' alignment has no more
// than that, so that a vector access of it is found where the device would let it pass by luck.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "backends/cuda/sim/running_block.h"
#include "backends/cuda/sim/sanitizers.h"

namespace stepscope::cudasim {
namespace {

constexpr std::size_t kMostArrays = 64;
constexpr std::size_t kGap = 32;  // bytes at least between arrays
constexpr std::size_t kArena = kSharedOptIn + kSharedLimit + kMostArrays * (kGap + 64);

struct Array {
  const void* identity;
  std::byte* data;
};

struct Arena {
  std::byte* memory = nullptr;
  std::size_t used = 0;   // bytes from the beginning
  std::size_t bytes = 0;  // dynamic, and of arrays, without gaps
  std::size_t limit = 0;  // of them
  std::byte* dynamic = nullptr;
  std::array<Array, kMostArrays> arrays{};
  std::size_t count = 0;
};

std::byte* map_arena(void* at) {
  void* memory = mmap(at, kArena, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | (at == nullptr ? 0 : MAP_FIXED), -1, 0);
  if (memory == MAP_FAILED) {
    throw std::bad_alloc();
  }
  return static_cast<std::byte*>(memory);
}

// What a kernel that was launched without dynamic shared memory has of it: the middle of pages that
// cannot be touched, so that a use ends with the block and the thread named.
std::byte* nothing() {
  static std::byte* const middle = [] {
    void* memory = mmap(nullptr, 2 * kSharedOptIn, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      throw std::bad_alloc();
    }
    return static_cast<std::byte*>(memory) + kSharedOptIn;
  }();
  return middle;
}

Arena& arena() {
  static Arena& arena = *new Arena;
  return arena;
}

// Requires: room was checked.
std::byte* cut(std::size_t bytes, std::size_t alignment) {
  Arena& a = arena();
  std::size_t begin = (a.used + kGap + 15) / 16 * 16;
  if (alignment < 16) {
    begin += 8;
  } else {
    begin = (begin + alignment - 1) / alignment * alignment;
  }
  a.used = begin + bytes;
  unpoison(a.memory + begin, bytes);
  return a.memory + begin;
}

}  // namespace

void begin_shared(std::size_t dynamic_bytes, std::size_t limit) {
  Arena& a = arena();
  if (a.memory == nullptr) {
    a.memory = map_arena(nullptr);
    std::memset(a.memory, 0xFF, kArena);
    poison(a.memory, kArena);
  }
  a.bytes = dynamic_bytes;
  a.limit = limit;
  a.dynamic = dynamic_bytes == 0 ? nothing() : cut(dynamic_bytes, 16);
}

std::size_t shared_limit() { return arena().limit; }

// Back to NaN. The next block's accesses race with nothing of this one's: new pages are new memory
// to ThreadSanitizer.
void end_shared() {
  Arena& a = arena();
  if (a.used == 0) {
    return;
  }
  if (kTsan) {
    map_arena(a.memory);
    std::memset(a.memory, 0xFF, kArena);
  } else {
    unpoison(a.memory, kArena);
    std::memset(a.memory, 0xFF, std::min(a.used + 1024, kArena));
    poison(a.memory, kArena);
  }
  a.used = a.count = 0;
}

namespace device {

void* shared_array(const void* identity, std::size_t bytes, std::size_t alignment, Site site) {
  Arena& a = arena();
  for (std::size_t i = 0; i < a.count; ++i) {
    if (a.arrays[i].identity == identity) {
      return a.arrays[i].data;
    }
  }
  const unsigned self = running_block().running;
  if (a.count == kMostArrays) {
    raise({FaultKind::shared_count, self, site, 0, {}, kMostArrays});
  }
  // Arrays alone have the limit without opt-in: nvcc refuses more.
  const std::size_t of_arrays = a.bytes - running_block().call->dynamic_shared + bytes;
  if (of_arrays > kSharedLimit || a.bytes + bytes > a.limit) {
    raise({FaultKind::shared_limit, self, site, 0, {}, a.bytes + bytes});
  }
  a.bytes += bytes;
  a.arrays[a.count] = {identity, cut(bytes, alignment)};
  return a.arrays[a.count++].data;
}

void* dynamic_shared() { return arena().dynamic; }

}  // namespace device
}  // namespace stepscope::cudasim
