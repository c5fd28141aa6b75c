// Device calls: what the prelude's device functions ask of the executor. Called on a device thread
// only, that is from within run_grid(); everything here may suspend the caller or end it in a
// fault.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

namespace stepscope::cudasim::device {

using Site = std::source_location;  // of the call in the kernel; messages name it

enum class Collective : std::uint8_t {
  sync_warp,
  shuffle_index,
  shuffle_up,
  shuffle_down,
  shuffle_xor,
  ballot,
  any,
  all,
};

// What one lane brings to a collective.
struct Offer {
  Collective kind;
  unsigned mask;            // the lanes that take part
  std::uint64_t value = 0;  // its bits to be shuffled; 0 or 1 for votes
  int operand = 0;          // lane, delta or lane mask of a shuffle
  int width = 32;           // of a shuffle's groups
  unsigned bytes = 0;       // of the shuffled type
};

// Waits for all threads of the block that have not exited.
void barrier(Site site);
// Waits for the lanes of the mask that have not exited.
std::uint64_t collective(const Offer& offer, Site site);
unsigned lane();

// The block's memory for the declaration that `identity` is the address of: one place for all
// threads, NaN at first.
void* shared_array(const void* identity, std::size_t bytes, std::size_t alignment, Site site);
void* dynamic_shared();  // exactly as many bytes as the launch asked for

void fence_block();
void fence_device();

}  // namespace stepscope::cudasim::device
