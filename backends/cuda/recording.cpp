// Replaying, and waiting for replays.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/recording.h"

#include <fmt/format.h>

#include "backends/cuda/error.h"
#include "backends/cuda/stream.h"

namespace stepscope::cuda {

CudaRecording::CudaRecording(ExecHandle exec, std::vector<RecordedCall> calls, Facts facts)
    : exec_(std::move(exec)), calls_(std::move(calls)), facts_(facts) {}

CudaRecording::~CudaRecording() {
  if (replayed_in_ != nullptr) forget(cudaStreamSynchronize(replayed_in_->value()));
}

void CudaRecording::replay(Stream& stream) {
  auto& cuda = static_cast<CudaStream&>(stream);
  if (const cudaError_t result = cudaGraphLaunch(exec_.value(), cuda.live()); result != cudaSuccess)
      [[unlikely]] {
    check_cuda(result, fmt::format("cudaGraphLaunch of {} nodes", facts_.nodes));
  }
  if (replayed_in_ != cuda.stream_) [[unlikely]]
    replayed_in_ = cuda.stream_;
  ReplayScope scope(stream);
  for (const RecordedCall& call : calls_) {
    scope.at_op(call.op);
    cuda.made_call(call.launch, call.by);
  }
}

}  // namespace stepscope::cuda
