// device_range: the addresses of device memory, closed while host code runs. Hands out ranges and
// knows nothing of what is alive (memory.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace stepscope::cudasim {

// To the calling thread, once: a fiber that overflows its own stack leaves the handler of SIGSEGV
// none. Each thread that runs kernels asks for it.
void give_handler_a_stack();

// A range aligned to 256 bytes, with gaps around it that no block ever has; null: none left.
std::byte* take_device_range(std::size_t bytes);
// Whether the address is of a range that was handed out since the last forget_device_range(), or of
// a gap beside one.
bool was_taken(const void* address);
// Of the gap behind a block of that size; its bytes are 0xFF.
std::size_t gap_behind(std::size_t bytes);
// The first byte before all blocks, and the gap there.
std::span<const std::byte> first_gap();
// Writes device memory from the host; opens just that.
void fill_device(std::byte* data, int value, std::size_t bytes);
// All ranges are free again, and their pages go back to the system.
void forget_device_range();

}  // namespace stepscope::cudasim
