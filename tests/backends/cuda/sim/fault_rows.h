// Fault rows: every call of the simulator with arguments that are good, in a scene that has what
// they name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <span>
#include <string_view>
#include <vector>

namespace stepscope::cudasim {

inline constexpr int kScene = 16;  // floats of each buffer, a 4 by 4 matrix
inline constexpr std::size_t kSceneBytes = sizeof(float) * kScene;

// Made anew for each row, after reset(); reset() ends it.
struct FaultScene {
  FaultScene();

  cudaStream_t stream = nullptr;               // non-blocking
  cudaEvent_t begin = nullptr, end = nullptr;  // recorded, and done
  float* device = nullptr;
  float* other = nullptr;
  float* host = nullptr;    // pinned
  void* ordered = nullptr;  // by cudaMallocAsync
  std::vector<float> pageable = std::vector<float>(kScene);
  const void* kernel = nullptr;

  cudaGraph_t graph = nullptr;  // kernel -> copy -> fill
  cudaGraphNode_t kernel_node = nullptr, copy_node = nullptr, fill_node = nullptr;
  cudaGraphExec_t exec = nullptr;
  void* arguments[1] = {&device};  // of the kernel
  cudaKernelNodeParams kernel_params() const;
  cudaMemsetParams fill_params() const;

  cublasLtHandle_t lt = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;  // 4 by 4
  cublasLtMatmulPreference_t preference = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
  cudnnHandle_t dnn = nullptr;
  cudnnTensorDescriptor_t tensor = nullptr;
};

struct FaultRow {
  std::string_view call;
  int (*make)(FaultScene&);
  int then = 0;                            // what the call returns without a fault
  void (*prepare)(FaultScene&) = nullptr;  // what must be before it
};

std::span<const FaultRow> runtime_rows();
std::span<const FaultRow> graph_rows();
std::span<const FaultRow> library_rows();

}  // namespace stepscope::cudasim
