// CudaStopwatch: the device's own time between two places of a stream, by a pair of events.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "backends/api/stream.h"
#include "backends/cuda/handles.h"

namespace stepscope::cuda {

class CudaStopwatch final : public Stopwatch {
 public:
  explicit CudaStopwatch(std::shared_ptr<const StreamHandle> stream);  // throws device
  void start() override;
  void stop() override;
  std::int64_t nanoseconds() override;

 private:
  enum class State : std::uint8_t { idle, started, stopped };

  std::shared_ptr<const StreamHandle> stream_;
  EventHandle begin_, end_;
  State state_ = State::idle;
};

}  // namespace stepscope::cuda
