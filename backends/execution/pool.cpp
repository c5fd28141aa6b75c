// The cold side of the pool: asking the backend for a block, and adding up what is in use.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/pool.h"

namespace stepscope {

std::byte* BlockPool::allocate(std::uint8_t size_class) {
  const std::size_t bytes = block_bytes(size_class);
  blocks_.push_back(backend_.allocate(bytes + address_offset_));
  bytes_reserved_ += bytes;
  classes_ = std::max<std::size_t>(classes_, size_class + 1U);
  free_[size_class].reserve(++made_[size_class]);
  note_peak();
  return blocks_.back()->data() + address_offset_;
}

std::size_t BlockPool::bytes_in_use() const {
  std::size_t free = 0;
  for (std::size_t each = 1; each < classes_; ++each) {
    free += free_[each].size() * block_bytes(static_cast<std::uint8_t>(each));
  }
  return bytes_reserved_ - free;
}

}  // namespace stepscope
