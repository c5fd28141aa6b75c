// requests: launches, copies and fills, judged when they are asked for.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/requests.h"

#include <cstring>
#include <map>

#include "backends/cuda/sim/executor.h"
#include "backends/cuda/sim/memory.h"

namespace stepscope::cudasim {
namespace {

std::map<const void*, std::size_t>& shared_limits() {
  static auto& limits = *new std::map<const void*, std::size_t>;
  return limits;
}

bool is_within(dim3 size, unsigned x, unsigned y, unsigned z) {
  return size.x >= 1 && size.x <= x && size.y >= 1 && size.y <= y && size.z >= 1 && size.z <= z;
}

// Compute capability 9.0, as the CUDA C++ Programming Guide's table has it.
bool fits(dim3 grid, dim3 block) {
  return is_within(grid, 0x7FFF'FFFF, 65'535, 65'535) &&
         is_within(block, kMostThreads, kMostThreads, 64) &&
         std::size_t{block.x} * block.y * block.z <= kMostThreads;
}

bool is_side(const void* data, bool device) {
  // Pinned and registered memory is the host's and, by the same address, the device's.
  const Place place = place_of(data);
  return device ? place != Place::pageable : place != Place::device;
}

cudaError_t settle_kind(const void* to, const void* from, cudaMemcpyKind& kind) {
  const bool to_device = place_of(to) == Place::device;
  const bool from_device = place_of(from) == Place::device;
  switch (kind) {
    case cudaMemcpyDefault:
      kind = to_device ? (from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                       : (from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
      return cudaSuccess;
    case cudaMemcpyHostToHost:
    case cudaMemcpyHostToDevice:
    case cudaMemcpyDeviceToHost:
    case cudaMemcpyDeviceToDevice: {
      const bool says_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
      const bool says_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
      return is_side(to, says_to) && is_side(from, says_from) ? cudaSuccess : cudaErrorInvalidValue;
    }
  }
  return cudaErrorInvalidMemcpyDirection;
}

// What CUDA knows must be one block; of pageable memory it knows nothing.
bool is_whole(const void* data, std::size_t bytes) {
  if (place_of(data) == Place::pageable) return freed_block_of(data) == nullptr;
  return lies_in_block(data, bytes);
}

}  // namespace

cudaError_t make_kernel_call(const void* function, dim3 grid, dim3 block,
                             std::size_t dynamic_shared, void* const* arguments, KernelCall& made) {
  const Signature* signature = function != nullptr ? signature_of(function) : nullptr;
  if (signature == nullptr) return cudaErrorInvalidDeviceFunction;
  if (!fits(grid, block)) return cudaErrorInvalidConfiguration;
  if (dynamic_shared > dynamic_shared_limit(function)) return cudaErrorInvalidValue;
  if (signature->bytes > kMostParameterBytes) return cudaErrorInvalidValue;
  if (arguments == nullptr && !signature->parameters.empty()) return cudaErrorInvalidValue;
  made = {function, signature, grid, block, dynamic_shared, false, {}};
  made.arguments.resize(signature->bytes);
  std::size_t index = 0;
  for (const Parameter& parameter : signature->parameters) {
    const void* argument = arguments[index++];
    if (argument == nullptr) return cudaErrorInvalidValue;
    std::memcpy(made.arguments.data() + parameter.offset, argument, parameter.size);
  }
  return cudaSuccess;
}

cudaError_t make_copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                      Copy& made) {
  if (bytes != 0 && (to == nullptr || from == nullptr)) return cudaErrorInvalidValue;
  if (const cudaError_t refused = settle_kind(to, from, kind)) return refused;
  if (bytes != 0 && !(is_whole(to, bytes) && is_whole(from, bytes))) return cudaErrorInvalidValue;
  made = {to, from, bytes, kind, nullptr};
  return cudaSuccess;
}

std::size_t extent_of(const Fill& fill) {
  if (fill.width == 0 || fill.height == 0) return 0;
  return (fill.height - 1) * fill.pitch + fill.width * fill.element_size;
}

cudaError_t make_fill(const Fill& wanted, Fill& made) {
  const unsigned size = wanted.element_size;
  if (size != 1 && size != 2 && size != 4) return cudaErrorInvalidValue;
  const std::size_t extent = extent_of(wanted);
  if (extent != 0) {
    const bool aligned = reinterpret_cast<std::uintptr_t>(wanted.to) % size == 0;
    const bool apart = wanted.height == 1 || wanted.pitch >= wanted.width * size;
    if (!aligned || !apart || !lies_in_block(wanted.to, extent)) return cudaErrorInvalidValue;
  }
  made = wanted;
  return cudaSuccess;
}

bool has_pageable_end(const Copy& copy) {
  return copy.bytes != 0 &&
         (place_of(copy.to) == Place::pageable || place_of(copy.from) == Place::pageable);
}

std::size_t dynamic_shared_limit(const void* function) {
  const auto found = shared_limits().find(function);
  return found != shared_limits().end() ? found->second : kSharedLimit;
}

void set_dynamic_shared_limit(const void* function, std::size_t bytes) {
  shared_limits()[function] = bytes;
}

void reset_requests() { shared_limits().clear(); }

}  // namespace stepscope::cudasim
