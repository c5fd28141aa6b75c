// Calls that allocate, free, register and ask about memory.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/graph_memory.h"
#include "backends/cuda/sim/memory.h"
#include "backends/cuda/sim/stream.h"

namespace {

using namespace stepscope::cudasim;

template <class Bytes>
cudaError_t hand_out(void** out, std::size_t bytes, Bytes allocate) {
  if (out == nullptr) return cudaErrorInvalidValue;
  std::byte* data = bytes != 0 ? allocate() : nullptr;
  if (bytes != 0 && data == nullptr) return cudaErrorMemoryAllocation;
  *out = data;
  return cudaSuccess;
}

// Rule 31: waits for nothing, since nobody promises it. What still uses the memory faults.
cudaError_t free_now(void* data) {
  if (data == nullptr) return cudaSuccess;
  const Block* block = block_of(data);
  if (block == nullptr || block->data != data || block->place != Place::device ||
      block->releasing) {
    return cudaErrorInvalidValue;
  }
  if (is_graph_memory(data)) {
    if (!may_free_graph_memory(data)) return cudaErrorInvalidValue;
    graph_memory_freed(data, nullptr);
    return end_touchable(data);
  }
  return free_device(data);
}

cudaError_t allocate_in_stream(void** out, std::size_t bytes, CUstream_st& stream) {
  if (out == nullptr) return cudaErrorInvalidValue;
  void* data = nullptr;
  const auto allocate = [&] { return allocate_device(bytes, true, false); };
  if (const cudaError_t refused = hand_out(&data, bytes, allocate)) return refused;
  if (data != nullptr) {
    if (const cudaError_t refused = submit(stream, Allocate{data, bytes})) {
      free_device(data);
      return refused;
    }
  }
  *out = data;
  return cudaSuccess;
}

cudaError_t free_in_stream(void* data, CUstream_st& stream) {
  if (data == nullptr) return cudaSuccess;
  const Block* block = block_of(data);
  if (block == nullptr || block->data != data || !block->stream_ordered || block->releasing) {
    return cudaErrorInvalidValue;
  }
  if (stream.capture != nullptr) return submit(stream, Release{data});  // rule 22 is the graph's
  const bool of_graph = is_graph_memory(data);
  if (of_graph && !may_free_graph_memory(data)) return cudaErrorInvalidValue;
  TaskRef task;
  if (const cudaError_t refused = submit(stream, Release{data}, &task)) return refused;
  if (of_graph) graph_memory_freed(data, task);
  release_begins(data);
  return cudaSuccess;
}

cudaPointerAttributes attributes_of(const void* address) {
  cudaPointerAttributes found{};
  const Block* block = block_of(address);
  auto* data = const_cast<void*>(address);
  if (block == nullptr) {
    found.type = cudaMemoryTypeUnregistered;
    found.device = cudaInvalidDeviceId;
    found.hostPointer = in_device_range(address) ? nullptr : data;
  } else if (block->place == Place::device) {
    found.type = cudaMemoryTypeDevice;
    found.devicePointer = data;
  } else {
    found.type = cudaMemoryTypeHost;
    found.devicePointer = data;
    found.hostPointer = data;
  }
  return found;
}

}  // namespace

cudaError_t cudaMalloc(void** out, std::size_t bytes) {
  return call(CallId::cudaMalloc, [&]() -> cudaError_t {
    return hand_out(out, bytes, [&] { return allocate_device(bytes, false, true); });
  });
}

cudaError_t cudaFree(void* data) {
  return call(CallId::cudaFree, [&]() -> cudaError_t { return free_now(data); });
}

cudaError_t cudaMallocHost(void** out, std::size_t bytes) {
  return call(CallId::cudaMallocHost, [&]() -> cudaError_t {
    return hand_out(out, bytes, [&] { return allocate_pinned(bytes); });
  });
}

// Waits for nothing: nobody promises it. A copy that still uses the memory faults.
cudaError_t cudaFreeHost(void* data) {
  return call(CallId::cudaFreeHost, [&]() -> cudaError_t { return free_pinned(data); });
}

cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned int flags) {
  return call(CallId::cudaHostRegister, [&]() -> cudaError_t {
    constexpr unsigned kKnown = cudaHostRegisterPortable | cudaHostRegisterMapped;
    if ((flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    return register_host(data, bytes);
  });
}

cudaError_t cudaHostUnregister(void* data) {
  return call(CallId::cudaHostUnregister, [&]() -> cudaError_t { return unregister_host(data); });
}

cudaError_t cudaMallocAsync(void** out, std::size_t bytes, cudaStream_t stream) {
  return call(CallId::cudaMallocAsync, [&]() -> cudaError_t {
    return use_stream(CallId::cudaMallocAsync, stream,
                      [&](CUstream_st& in) { return allocate_in_stream(out, bytes, in); });
  });
}

cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  return call(CallId::cudaFreeAsync, [&]() -> cudaError_t {
    return use_stream(CallId::cudaFreeAsync, stream,
                      [&](CUstream_st& in) { return free_in_stream(data, in); });
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
  return call(CallId::cudaPointerGetAttributes, [&]() -> cudaError_t {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = attributes_of(address);
    return cudaSuccess;
  });
}
