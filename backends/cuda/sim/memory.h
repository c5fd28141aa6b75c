// memory: the device's memory and what the host told CUDA of its own.
//
// One reserved range of addresses. Blocks are aligned to 256 bytes, begin as 0xFF, stand between
// poisoned gaps and are never reused before reset(). The range is closed (PROT_NONE) while host
// code runs: a host access stops the program with a line that names the address and its block.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepscope::cudasim {

enum class Place { pageable, device, pinned, registered };

struct Block {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  Place place = Place::pageable;
  bool stream_ordered = false;  // cudaMallocAsync
  bool touchable = true;        // by the device; false before its Allocate ran and after its end
  bool releasing = false;       // its cudaFreeAsync was submitted
  bool of_graph = false;        // a graph's memory node owns it: Release makes it untouchable
  std::uint64_t id = 0;         // in order of allocation, from 1; in messages
  // The last task that was submitted when the memory was freed, unregistered, or given back by a
  // graph: what runs later and is not younger was waiting then.
  std::uint64_t ended_behind = 0;
};

// Throws nothing: null when the device has not that much left. `touchable`: false until an Allocate
// runs (cudaMallocAsync).
std::byte* allocate_device(std::size_t bytes, bool stream_ordered, bool touchable);
cudaError_t free_device(void* data);  // 1 for what is no live block's begin; null is free
cudaError_t make_touchable(void* data, bool touchable);
// cudaFree of memory that a graph's launch left: not there from now on, until another launch.
cudaError_t end_touchable(void* data);

std::byte* allocate_pinned(std::size_t bytes);
cudaError_t free_pinned(void* data);
cudaError_t register_host(void* data, std::size_t bytes);
cudaError_t unregister_host(void* data);

// From a capture, for memory that cudaMallocAsync took for it: Release keeps it, free_device ends
// it. And back, for memory that outlives its graph: Release ends it then.
void give_to_graph(void* data);
void take_from_graph(void* data);

void release_begins(void* data);  // cudaFreeAsync was submitted; another one is refused

// The live block that holds the address; null: none (the host's pageable memory, or nothing at
// all).
const Block* block_of(const void* address);
bool in_device_range(const void* address);  // even when no live block is there
const Block* freed_block_of(const void* address);
// Whether the memory there was freed or unregistered while the task that runs now was waiting.
bool ended_under_way(const void* address);
Place place_of(const void* address);
// Whether [data, data + bytes) lies in one live block of the device, or in pinned or registered
// memory.
bool device_can_touch(const void* data, std::size_t bytes);
// The same, for memory whose Allocate need not have run yet: at the time of the call.
bool lies_in_block(const void* data, std::size_t bytes);
// "device memory 0x7f.. (block 3 of 4096 bytes, byte 17)", for messages.
std::string describe(const void* address);

// What a kernel wrote between the blocks: describe() of the first such byte; empty: nothing. Where
// AddressSanitizer looks at the kernels it knows before, and this does not look.
std::string damaged_gap();

// Opens the device's range for as long as it lives; nests.
class DeviceOpen {
 public:
  DeviceOpen();
  ~DeviceOpen();
  DeviceOpen(const DeviceOpen&) = delete;
  DeviceOpen& operator=(const DeviceOpen&) = delete;
};

std::size_t device_bytes_in_use();
std::size_t device_bytes_at_all();
std::size_t pinned_bytes_in_use();
// Leaks, one line each.
std::vector<std::string> live_blocks();
void reset_memory(std::size_t device_bytes);

}  // namespace stepscope::cudasim
