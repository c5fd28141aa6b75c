// BlockPool: the caching pool eager takes its outputs from, by size class. After warm-up it asks
// the backend for nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/api/backend.h"
#include "backends/api/dead_memory.h"

namespace stepscope {

// Sizes are multiples of the alignment: 1 to 4 of them, then four steps to each power of two, so a
// block wastes at most a fifth. Class 0: no block.
constexpr std::uint8_t size_class(std::size_t bytes, std::size_t alignment) {
  if (bytes == 0) return 0;
  const std::size_t units = (bytes + alignment - 1) / alignment;
  if (units <= 4) return static_cast<std::uint8_t>(units);
  const auto top =
      static_cast<std::size_t>(std::bit_width(units - 1));  // 2^(top-1) < units <= 2^top
  const std::size_t half = std::size_t{1} << (top - 1);
  const std::size_t step = half / 4;
  return static_cast<std::uint8_t>(4 + 4 * (top - 3) + (units - half + step - 1) / step);
}

constexpr std::size_t class_bytes(std::uint8_t size_class, std::size_t alignment) {
  if (size_class <= 4) return size_class * alignment;
  const std::size_t half = std::size_t{4} << ((size_class - 5) / 4);
  return (half + half / 4 * ((size_class - 5U) % 4 + 1)) * alignment;
}

class BlockPool {
 public:
  // `address_offset` shifts every block, for tests of what alignment does to bits.
  explicit BlockPool(Backend& backend, std::size_t address_offset = 0)
      : backend_(backend), address_offset_(address_offset) {}

  // Requires: the class is not 0.
  std::byte* take(std::uint8_t size_class) {
    std::vector<std::byte*>& free = free_[size_class];
    if (free.empty()) [[unlikely]] {
      return allocate(size_class);
    }
    std::byte* block = free.back();
    free.pop_back();
    if constexpr (kTrackDeadMemory) backend_.mark_live(block, block_bytes(size_class));
    return block;
  }

  // Only the first `used` bytes of a taken block belong to somebody: what lies behind is dead, so
  // that debug and sanitizer builds see a kernel go too far.
  void mark_rest_dead(std::byte* block, std::uint8_t size_class, std::size_t used) {
    if constexpr (kTrackDeadMemory) {
      backend_.mark_dead(block + used, block_bytes(size_class) - used);
    }
  }

  void give(std::byte* block, std::uint8_t size_class) {
    if constexpr (kTrackDeadMemory) backend_.mark_dead(block, block_bytes(size_class));
    free_[size_class].push_back(block);  // within the capacity that allocate() reserved
  }

  std::size_t bytes_reserved() const { return bytes_reserved_; }
  // Of the blocks that are taken. Worked out from the free lists, so that taking counts nothing.
  std::size_t bytes_in_use() const;
  // The most that was in use when the pool grew, or at note_peak(), since the last reset_peak().
  std::size_t peak_in_use() const { return peak_in_use_; }
  void note_peak() { peak_in_use_ = std::max(peak_in_use_, bytes_in_use()); }
  void reset_peak() { peak_in_use_ = bytes_in_use(); }
  std::size_t blocks() const { return blocks_.size(); }

 private:
  std::byte* allocate(std::uint8_t size_class);
  std::size_t block_bytes(std::uint8_t size_class) const {
    return class_bytes(size_class, backend_.alignment());
  }

  Backend& backend_;
  std::size_t address_offset_;
  std::size_t bytes_reserved_ = 0;
  std::size_t peak_in_use_ = 0;
  std::size_t classes_ = 0;  // no block has a class from here on
  std::array<std::vector<std::byte*>, 256> free_;
  std::array<std::size_t, 256> made_{};  // blocks of each class
  std::vector<std::unique_ptr<Memory>> blocks_;
};

}  // namespace stepscope
