// Recorder: one call of the step, given to a stream or made a node of a graph: the list of calls is
// written once. Kernels: recorder.cuh.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>

namespace stepscope::mlp {

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw std::runtime_error(std::string(what) + ": " + cudaGetErrorName(error));
}
inline void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(what) + ": " + cublasLtGetStatusName(status));
}

struct Recorder {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;     // null: calls go to the stream, which runs or captures them
  cudaGraphNode_t last = nullptr;  // of the chain that the graph is

  void copy_in(void* to, const void* from, std::size_t bytes);
  // A library's call cannot be an explicit node: it is captured into the graph, behind the last
  // one.
  void library(const std::function<cublasStatus_t(cudaStream_t)>& call);
};

}  // namespace stepscope::mlp
