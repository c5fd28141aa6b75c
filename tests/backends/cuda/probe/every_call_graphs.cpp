// Every call of the runtime that has to do with captures and graphs.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>

#include "tests/backends/cuda/probe/every_call.h"
#include "tests/backends/cuda/probe/kernels.h"

namespace stepscope::probe {
namespace {

cudaStreamCaptureStatus capture_status;
cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
unsigned long long id;
cudaGraph_t graph;
cudaGraphNode_t node;
cudaGraphNodeType type;
cudaGraphExec_t executable;
cudaGraphExecUpdateResultInfo update;
std::size_t count;
std::byte from[64], to[64];

constexpr auto kGlobal = cudaStreamCaptureModeGlobal;

void nothing_on_host(void*) {}

cudaKernelNodeParams kernel_parameters() {
  cudaKernelNodeParams parameters{};
  parameters.func = const_cast<void*>(nothing_kernel());
  parameters.gridDim = parameters.blockDim = dim3(1);
  return parameters;
}

cudaMemsetParams fill_parameters() {
  cudaMemsetParams parameters{};
  parameters.dst = to;
  parameters.elementSize = 1;
  parameters.width = sizeof(to);
  parameters.height = 1;
  return parameters;
}

Status add_kernel_node() {
  const cudaKernelNodeParams parameters = kernel_parameters();
  return status_of(cudaGraphAddKernelNode(&node, nullptr, nullptr, 0, &parameters));
}

Status add_fill_node() {
  const cudaMemsetParams parameters = fill_parameters();
  return status_of(cudaGraphAddMemsetNode(&node, nullptr, nullptr, 0, &parameters));
}

Status add_host_node() {
  const cudaHostNodeParams parameters{nothing_on_host, nullptr};
  return status_of(cudaGraphAddHostNode(&node, nullptr, nullptr, 0, &parameters));
}

Status ask_kernel_parameters() {
  cudaKernelNodeParams parameters{};
  return status_of(cudaGraphKernelNodeGetParams(nullptr, &parameters));
}

Status set_kernel_parameters() {
  const cudaKernelNodeParams parameters = kernel_parameters();
  return status_of(cudaGraphExecKernelNodeSetParams(nullptr, nullptr, &parameters));
}

Status set_fill_parameters() {
  const cudaMemsetParams parameters = fill_parameters();
  return status_of(cudaGraphExecMemsetNodeSetParams(nullptr, nullptr, &parameters));
}

#define ENTRY(name, ...)                               \
  Entry {                                              \
#name, [] { return status_of(name(__VA_ARGS__)); } \
  }

constexpr std::array kGraphs = {
    ENTRY(cudaStreamBeginCapture, cudaStreamPerThread, kGlobal),
    ENTRY(cudaStreamBeginCaptureToGraph, cudaStreamPerThread, nullptr, nullptr, nullptr, 0,
          kGlobal),
    ENTRY(cudaStreamEndCapture, cudaStreamPerThread, &graph),
    ENTRY(cudaStreamIsCapturing, cudaStreamPerThread, &capture_status),
    ENTRY(cudaStreamGetCaptureInfo, cudaStreamPerThread, &capture_status, &id, nullptr, nullptr,
          nullptr, nullptr),
    ENTRY(cudaThreadExchangeStreamCaptureMode, &mode),
    ENTRY(cudaGraphCreate, &graph, 0),
    ENTRY(cudaGraphDestroy, nullptr),
    Entry{"cudaGraphAddKernelNode", add_kernel_node},
    ENTRY(cudaGraphAddMemcpyNode1D, &node, nullptr, nullptr, 0, to, from, sizeof(to),
          cudaMemcpyDefault),
    Entry{"cudaGraphAddMemsetNode", add_fill_node},
    Entry{"cudaGraphAddHostNode", add_host_node},
    ENTRY(cudaGraphAddEmptyNode, &node, nullptr, nullptr, 0),
    ENTRY(cudaGraphAddDependencies, nullptr, nullptr, nullptr, nullptr, 0),
    ENTRY(cudaGraphGetNodes, nullptr, nullptr, &count),
    ENTRY(cudaGraphGetEdges, nullptr, nullptr, nullptr, nullptr, &count),
    ENTRY(cudaGraphNodeGetType, nullptr, &type),
    ENTRY(cudaGraphNodeGetDependencies, nullptr, nullptr, nullptr, &count),
    Entry{"cudaGraphKernelNodeGetParams", ask_kernel_parameters},
    ENTRY(cudaGraphInstantiate, &executable, nullptr, 0),
    ENTRY(cudaGraphUpload, nullptr, nullptr),
    ENTRY(cudaGraphLaunch, nullptr, nullptr),
    ENTRY(cudaGraphExecUpdate, nullptr, nullptr, &update),
    Entry{"cudaGraphExecKernelNodeSetParams", set_kernel_parameters},
    ENTRY(cudaGraphExecMemcpyNodeSetParams1D, nullptr, nullptr, to, from, sizeof(to),
          cudaMemcpyDefault),
    Entry{"cudaGraphExecMemsetNodeSetParams", set_fill_parameters},
    ENTRY(cudaGraphExecDestroy, nullptr),
};

}  // namespace

std::span<const Entry> graph_calls() { return kGraphs; }

}  // namespace stepscope::probe
