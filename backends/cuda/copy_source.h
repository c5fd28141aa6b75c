// CudaCopySource: pinned memory with a fixed address, that graphs copy from.
//
// It is written again only behind the event that the last replay was followed by. That event says
// that the whole replay is over, not its copies alone: one between them and the kernels would be a
// node more in every replay.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "backends/api/stream.h"
#include "backends/cuda/handles.h"
#include "backends/cuda/memory.h"

namespace stepscope::cuda {

class CudaCopySource final : public CopySource {
 public:
  explicit CudaCopySource(std::size_t bytes);  // throws device
  std::span<std::byte> refill() override;
  std::size_t bytes() const override { return bytes_; }
  const std::byte* data() const { return data_; }

  // From a recording: its newest replay reads this, and `over` was recorded behind it.
  void read_until(std::shared_ptr<const EventHandle> over) { over_ = std::move(over); }

 private:
  std::size_t bytes_;
  PinnedMemory memory_;
  std::byte* data_;
  std::shared_ptr<const EventHandle> over_;  // null: nobody reads it
};

}  // namespace stepscope::cuda
