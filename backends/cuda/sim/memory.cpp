// memory: blocks, live and freed, and what the device may touch of them.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/memory.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "backends/cuda/sim/device_range.h"
#include "backends/cuda/sim/graph.h"
#include "backends/cuda/sim/lint.h"
#include "backends/cuda/sim/sanitizers.h"
#include "backends/cuda/sim/schedule.h"

namespace stepscope::cudasim {
namespace {

constexpr int kNothing = 0xFF;  // bytes of memory that nobody wrote: NaN as floats

using Blocks = std::map<const std::byte*, Block>;  // by first byte

struct Memory {
  Blocks live;
  Blocks dead;          // device and pinned memory that was freed; its addresses are not used again
  Blocks unregistered;  // the host's still, and perhaps other memory of it by now
  std::uint64_t made = 0;
  std::size_t device_limit = std::size_t{1} << 30;
  std::size_t device_used = 0, pinned_used = 0;
};

Memory& memory() {
  static Memory& state = *new Memory;
  return state;
}

// The block that holds the address; with `end`, also one that ends there.
const Block* find(const Blocks& blocks, const void* address, bool end) {
  const auto* at = static_cast<const std::byte*>(address);
  auto after = blocks.upper_bound(at);
  if (after == blocks.begin()) return nullptr;
  const Block& block = std::prev(after)->second;
  const auto offset = static_cast<std::size_t>(at - block.data);
  return offset < block.bytes || (end && offset == block.bytes) ? &block : nullptr;
}

Block* live(void* data, Place place) {
  const auto found = memory().live.find(static_cast<const std::byte*>(data));
  if (found == memory().live.end() || found->second.place != place) return nullptr;
  return &found->second;
}

bool overlaps_live(const std::byte* data, std::size_t bytes) {
  if (find(memory().live, data, false) != nullptr) return true;
  const auto next = memory().live.lower_bound(data);
  return next != memory().live.end() && next->second.data < data + bytes;
}

Block& add_block(std::byte* data, std::size_t bytes, Place place) {
  Block block;
  block.data = data;
  block.bytes = bytes;
  block.place = place;
  block.id = ++memory().made;
  return memory().live[data] = block;
}

void lint_of_end(const Block& block, std::string_view how) {
  if (!an_executable_holds(block.data, block.bytes)) return;
  note(Lint::freed_before_exec,
       fmt::format("{} was {} while an executable graph holds its address; destroy the executable "
                   "first",
                   describe(block.data), how));
}

// Overwrites what is left behind, so that a late reader sees NaN, and closes it to ASan's eyes.
void bury(Block block) {
  unpoison(block.data, block.bytes);
  if (block.place == Place::device) {
    fill_device(block.data, kNothing, block.bytes);
  } else {
    std::memset(block.data, kNothing, block.bytes);
  }
  poison(block.data, block.bytes);
  block.ended_behind = last_submitted();
  memory().live.erase(block.data);
  memory().dead[block.data] = block;
}

// No call of the C library: ThreadSanitizer looks at those, and a kernel's accesses are not the
// simulator's.
const std::byte* first_damage(std::span<const std::byte> gap) {
  for (const std::byte& byte : gap) {
    if (byte != std::byte{kNothing}) return &byte;
  }
  return nullptr;
}

std::string_view kind_of(const Block& block, bool dead) {
  if (block.place == Place::registered) return "registered host memory";
  if (block.place == Place::pinned) return dead ? "freed pinned memory" : "pinned memory";
  if (dead) return "freed device memory";
  return block.touchable ? "device memory" : "device memory outside its stream-ordered life";
}

std::string described(const Block& block, const void* address, bool dead) {
  return fmt::format("{} {} (block {} of {} bytes, byte {})", kind_of(block, dead), address,
                     block.id, block.bytes, static_cast<const std::byte*>(address) - block.data);
}

}  // namespace

std::byte* allocate_device(std::size_t bytes, bool stream_ordered, bool touchable) {
  Memory& all = memory();
  if (bytes > all.device_limit - all.device_used) return nullptr;
  std::byte* data = take_device_range(bytes);
  if (data == nullptr) return nullptr;
  Block& block = add_block(data, bytes, Place::device);
  block.stream_ordered = stream_ordered;
  all.device_used += bytes;
  make_touchable(data, touchable);
  return data;
}

cudaError_t free_device(void* data) {
  if (data == nullptr) return cudaSuccess;
  Block* block = live(data, Place::device);
  if (block == nullptr) return cudaErrorInvalidValue;
  lint_of_end(*block, "freed");
  memory().device_used -= block->bytes;
  bury(*block);
  return cudaSuccess;
}

// Beginning or ending: what it held is gone.
cudaError_t make_touchable(void* data, bool touchable) {
  Block* block = live(data, Place::device);
  if (block == nullptr) return cudaErrorInvalidValue;
  unpoison(block->data, block->bytes);
  fill_device(block->data, kNothing, block->bytes);
  if (!touchable) poison(block->data, block->bytes);
  block->touchable = touchable;
  return cudaSuccess;
}

cudaError_t end_touchable(void* data) {
  const cudaError_t result = make_touchable(data, false);
  if (Block* block = live(data, Place::device)) block->ended_behind = last_submitted();
  return result;
}

void give_to_graph(void* data) {
  if (Block* block = live(data, Place::device)) block->of_graph = true;
}

void take_from_graph(void* data) {
  if (Block* block = live(data, Place::device)) block->of_graph = false;
}

void release_begins(void* data) {
  Block* block = live(data, Place::device);
  if (block == nullptr || block->of_graph) return;
  lint_of_end(*block, "freed");
  block->releasing = true;
}

std::byte* allocate_pinned(std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  void* data = nullptr;
  if (posix_memalign(&data, kPage, bytes) != 0) return nullptr;
  std::memset(data, kNothing, bytes);
  add_block(static_cast<std::byte*>(data), bytes, Place::pinned);
  memory().pinned_used += bytes;
  return static_cast<std::byte*>(data);
}

cudaError_t free_pinned(void* data) {
  if (data == nullptr) return cudaSuccess;
  Block* block = live(data, Place::pinned);
  if (block == nullptr) return cudaErrorInvalidValue;
  lint_of_end(*block, "freed");
  memory().pinned_used -= block->bytes;
  bury(*block);
  return cudaSuccess;
}

cudaError_t register_host(void* data, std::size_t bytes) {
  auto* first = static_cast<std::byte*>(data);
  if (first == nullptr || bytes == 0 || in_device_range(first)) return cudaErrorInvalidValue;
  if (overlaps_live(first, bytes)) return cudaErrorHostMemoryAlreadyRegistered;
  add_block(first, bytes, Place::registered);
  return cudaSuccess;
}

cudaError_t unregister_host(void* data) {
  Block* block = live(data, Place::registered);
  if (block == nullptr) return cudaErrorHostMemoryNotRegistered;
  lint_of_end(*block, "unregistered");
  block->ended_behind = last_submitted();
  memory().unregistered[block->data] = *block;
  memory().live.erase(block->data);
  return cudaSuccess;
}

const Block* block_of(const void* address) { return find(memory().live, address, false); }

const Block* freed_block_of(const void* address) { return find(memory().dead, address, false); }

bool ended_under_way(const void* address) {
  const Block* block = block_of(address);
  if (block == nullptr) block = freed_block_of(address);
  if (block == nullptr) block = find(memory().unregistered, address, false);
  return block != nullptr && running_task() != 0 && block->ended_behind >= running_task();
}

Place place_of(const void* address) {
  if (in_device_range(address)) return Place::device;
  const Block* block = block_of(address);
  return block != nullptr ? block->place : Place::pageable;
}

bool lies_in_block(const void* data, std::size_t bytes) {
  const Block* block = find(memory().live, data, bytes == 0);
  if (block == nullptr) return false;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(data) - block->data);
  return bytes <= block->bytes - offset;
}

bool device_can_touch(const void* data, std::size_t bytes) {
  return lies_in_block(data, bytes) && find(memory().live, data, bytes == 0)->touchable;
}

std::string describe(const void* address) {
  if (address == nullptr) return "a null pointer";
  if (const Block* block = block_of(address)) return described(*block, address, false);
  if (const Block* block = freed_block_of(address)) return described(*block, address, true);
  if (const Block* block = find(memory().live, address, true)) {
    return fmt::format("{}, its end", described(*block, address, false));
  }
  if (in_device_range(address)) {
    return fmt::format("device memory {} (between the blocks)", address);
  }
  return fmt::format("pageable host memory {}", address);
}

std::string damaged_gap() {
  if (kAsan) return {};
  const std::byte* at = first_damage(first_gap());
  for (const auto& [data, block] : memory().live) {
    if (at != nullptr) break;
    if (block.place != Place::device) continue;
    at = first_damage({data + block.bytes, gap_behind(block.bytes)});
    if (at != nullptr) {
      return fmt::format("{}, {} bytes behind it", described(block, data, false),
                         at - data - static_cast<std::ptrdiff_t>(block.bytes));
    }
  }
  return at != nullptr ? describe(at) : std::string();
}

std::size_t device_bytes_in_use() { return memory().device_used; }
std::size_t device_bytes_at_all() { return memory().device_limit; }
std::size_t pinned_bytes_in_use() { return memory().pinned_used; }

std::vector<std::string> live_blocks() {
  std::vector<std::string> lines;
  for (const auto& [data, block] : memory().live) {
    if (!block.of_graph && !block.releasing) lines.push_back(described(block, data, false));
  }
  return lines;
}

void reset_memory(std::size_t device_bytes) {
  for (Blocks* blocks : {&memory().live, &memory().dead}) {
    for (const auto& [data, block] : *blocks) {
      if (block.place != Place::pinned) continue;
      unpoison(data, block.bytes);
      std::free(block.data);
    }
  }
  memory() = {};
  memory().device_limit = device_bytes;
  forget_device_range();
}

}  // namespace stepscope::cudasim
