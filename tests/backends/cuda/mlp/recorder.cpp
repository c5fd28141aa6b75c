// Copies and library calls of a recorder.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/mlp/recorder.h"

namespace stepscope::mlp {

void Recorder::copy_in(void* to, const void* from, std::size_t bytes) {
  if (graph == nullptr) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
    return;
  }
  cudaGraphNode_t node = nullptr;
  check(cudaGraphAddMemcpyNode1D(&node, graph, &last, last == nullptr ? 0 : 1, to, from, bytes,
                                 cudaMemcpyHostToDevice),
        "cudaGraphAddMemcpyNode1D");
  last = node;
}

void Recorder::library(const std::function<cublasStatus_t(cudaStream_t)>& call) {
  if (graph == nullptr) {
    check(call(stream), "a product");
    return;
  }
  check(cudaStreamBeginCaptureToGraph(stream, graph, &last, nullptr, last == nullptr ? 0 : 1,
                                      cudaStreamCaptureModeThreadLocal),
        "cudaStreamBeginCaptureToGraph");
  check(call(stream), "a captured product");
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* at = nullptr;
  std::size_t count = 0;
  check(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &at, nullptr, &count),
        "cudaStreamGetCaptureInfo");
  if (count != 1) throw std::runtime_error("a captured product is not the end of a chain");
  last = *at;
  cudaGraph_t same = nullptr;
  check(cudaStreamEndCapture(stream, &same), "cudaStreamEndCapture");
}

}  // namespace stepscope::mlp
