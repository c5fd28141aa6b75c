// Submission: where device code goes. For host code; what sends it there is submission.cuh.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace stepscope::cuda {

// A stream, which may be capturing; or a graph that is built of explicit nodes, one behind the
// other.
struct Submission {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;     // null: to the stream
  cudaGraphNode_t last = nullptr;  // of the graph: what the next node follows; null: nothing yet
};

}  // namespace stepscope::cuda
