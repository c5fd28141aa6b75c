// memory: blocks of the device, and pinned memory of the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "backends/api/backend.h"

namespace stepscope::cuda {

inline constexpr std::size_t kAlignment = 256;  // what cudaMalloc promises at least

class DeviceMemory final : public Memory {
 public:
  explicit DeviceMemory(std::size_t bytes);  // throws device, with the bytes asked for and free
  ~DeviceMemory() override;
  std::byte* data() override { return data_; }
  std::size_t bytes() const override { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_;
};

// Grows only; what it held is lost then. Empty until the first reserve().
class PinnedMemory {
 public:
  PinnedMemory() = default;
  ~PinnedMemory();
  PinnedMemory(PinnedMemory&& other) noexcept;
  PinnedMemory& operator=(PinnedMemory&& other) noexcept;
  std::byte* reserve(std::size_t bytes);  // throws device
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// One piece of it.
class PinnedBlock final : public Memory {
 public:
  explicit PinnedBlock(std::size_t bytes) : bytes_(bytes), data_(memory_.reserve(bytes)) {}
  std::byte* data() override { return data_; }
  std::size_t bytes() const override { return bytes_; }

 private:
  std::size_t bytes_;
  PinnedMemory memory_;
  std::byte* data_;
};

}  // namespace stepscope::cuda
