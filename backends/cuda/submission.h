// Submission: where device code goes. For host code; what sends it there is submission.cuh.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace stepscope::cuda {

// A stream, which may be capturing; or a graph that is built of explicit nodes, one behind the
// other.
struct Submission {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;     // null: to the stream
  cudaGraphNode_t last = nullptr;  // of the graph: what the next node follows; null: nothing yet
  // Digest of the addresses that own kernels are given, while a graph is made; null: nobody asks.
  std::uint64_t* addresses = nullptr;
};

}  // namespace stepscope::cuda
