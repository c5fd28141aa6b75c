// The cold side of the pool: asking the backend for a block.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/pool.h"

namespace stepscope {

std::byte* BlockPool::allocate(std::uint8_t size_class) {
  const std::size_t bytes = block_bytes(size_class);
  blocks_.push_back(backend_.allocate(bytes + address_offset_));
  bytes_reserved_ += bytes;
  free_[size_class].reserve(++made_[size_class]);
  return blocks_.back()->data() + address_offset_;
}

}  // namespace stepscope
