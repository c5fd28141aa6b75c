// Replaying, and waiting for replays.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/recording.h"

#include <fmt/format.h>

#include "backends/cuda/error.h"
#include "backends/cuda/stream.h"

namespace stepscope::cuda {

CudaRecording::CudaRecording(ExecHandle exec, std::vector<RecordedCopy> copies,
                             std::vector<RecordedCall> calls, Facts facts,
                             std::vector<RecordedNode> nodes)
    : exec_(std::move(exec)),
      copies_(std::move(copies)),
      calls_(std::move(calls)),
      facts_(facts),
      nodes_(std::move(nodes)) {
  if (copies_.empty()) return;
  over_ = std::make_shared<EventHandle>();
  check_cuda(cudaEventCreateWithFlags(over_->fill(), cudaEventDisableTiming),
             "cuda: recording: cudaEventCreateWithFlags of its copies");
}

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
  if (!copies_.empty()) mark_read(cuda.live());
  ReplayScope scope(stream);
  for (const RecordedCopy& copy : copies_) scope.copied_in(copy.bytes);
  for (const RecordedCall& call : calls_) {
    scope.at_op(call.op);
    cuda.made_call(call.launch, call.by);
  }
}

// Without the event nobody could tell when the sources may be written again.
void CudaRecording::mark_read(cudaStream_t stream) {
  const cudaError_t result = cudaEventRecord(over_->value(), stream);
  if (result != cudaSuccess) {
    forget(result);
    forget(cudaStreamSynchronize(stream));
  }
  check_cuda(result, "input_copy: cudaEventRecord behind a replay");
  for (const RecordedCopy& copy : copies_) copy.from->read_until(over_);
}

}  // namespace stepscope::cuda
