// Recording and reading the pair of events.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/stopwatch.h"

#include <cmath>

#include "backends/cuda/error.h"
#include "ops/base/check.h"

namespace stepscope::cuda {

CudaStopwatch::CudaStopwatch(std::shared_ptr<const StreamHandle> stream)
    : stream_(std::move(stream)) {
  for (EventHandle* event : {&begin_, &end_}) {
    check_cuda(cudaEventCreate(event->fill()), "cudaEventCreate of a stopwatch");
  }
}

void CudaStopwatch::start() {
  check_cuda(cudaEventRecord(begin_.value(), stream_->value()),
             "cudaEventRecord of a stopwatch's start");
  state_ = State::started;
}

void CudaStopwatch::stop() {
  check(state_ == State::started, Fault::bad_input, "stopwatch: stopped without a start");
  check_cuda(cudaEventRecord(end_.value(), stream_->value()),
             "cudaEventRecord of a stopwatch's stop");
  state_ = State::stopped;
}

std::int64_t CudaStopwatch::nanoseconds() {
  check(state_ == State::stopped, Fault::bad_input, "stopwatch: read before it was stopped");
  check_cuda(cudaEventSynchronize(end_.value()), "cudaEventSynchronize of a stopwatch");
  float milliseconds = 0.0F;
  check_cuda(cudaEventElapsedTime(&milliseconds, begin_.value(), end_.value()),
             "cudaEventElapsedTime of a stopwatch");
  return std::llround(static_cast<double>(milliseconds) * 1e6);
}

}  // namespace stepscope::cuda
