// Allocations. All of them under the lock of captures: they would break one.
//
// Memory is freed behind a wait for the device: nobody promises that freeing waits for the work
// that still uses it, and who frees may not know the stream.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/memory.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "backends/cuda/capture_lock.h"
#include "backends/cuda/error.h"

namespace stepscope::cuda {
namespace {

std::string told(std::size_t bytes) {
  std::size_t free = 0, total = 0;
  if (const cudaError_t result = cudaMemGetInfo(&free, &total); result != cudaSuccess) {
    forget(result);
    return fmt::format("cudaMalloc of {} bytes", bytes);
  }
  return fmt::format("cudaMalloc of {} bytes, with {} of {} free", bytes, free, total);
}

void free_pinned(std::byte* data) {
  if (data == nullptr) return;
  const std::lock_guard lock(capture_lock());
  forget(cudaDeviceSynchronize());
  forget(cudaFreeHost(data));
}

}  // namespace

std::recursive_mutex& capture_lock() {
  static std::recursive_mutex lock;
  return lock;
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(capture_lock());
  void* data = nullptr;
  if (const cudaError_t result = cudaMalloc(&data, bytes); result != cudaSuccess) {
    forget(result);
    check_cuda(result, told(bytes));
  }
  data_ = static_cast<std::byte*>(data);
}

DeviceMemory::~DeviceMemory() {
  if (data_ == nullptr) return;
  const std::lock_guard lock(capture_lock());
  forget(cudaDeviceSynchronize());
  forget(cudaFree(data_));
}

PinnedMemory::~PinnedMemory() { free_pinned(data_); }

PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  if (this != &other) {
    free_pinned(data_);
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

std::byte* PinnedMemory::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return data_;
  free_pinned(std::exchange(data_, nullptr));
  bytes_ = 0;
  const std::lock_guard lock(capture_lock());
  void* data = nullptr;
  check_cuda(cudaMallocHost(&data, bytes), fmt::format("cudaMallocHost of {} bytes", bytes));
  data_ = static_cast<std::byte*>(data);
  bytes_ = bytes;
  return data_;
}

}  // namespace stepscope::cuda
