// Waiting for the replays that read a source.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/copy_source.h"

#include "backends/cuda/error.h"

namespace stepscope::cuda {

CudaCopySource::CudaCopySource(std::size_t bytes) : bytes_(bytes), data_(memory_.reserve(bytes)) {}

std::span<std::byte> CudaCopySource::refill() {
  if (over_ != nullptr) {
    check_cuda(cudaEventSynchronize(over_->value()),
               "input_copy: cudaEventSynchronize of the replay that reads the input");
    over_.reset();
  }
  return {data_, bytes_};
}

}  // namespace stepscope::cuda
