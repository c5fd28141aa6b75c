// Fault rows of captures and graphs.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/backends/cuda/sim/fault_rows.h"

namespace stepscope::cudasim {
namespace {

constexpr auto kGlobal = cudaStreamCaptureModeGlobal;

cudaStreamCaptureStatus status;
cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
cudaGraph_t graph;
cudaGraphNode_t node;
cudaGraphNodeType type;
cudaGraphExec_t exec;
cudaGraphExecUpdateResultInfo updated;
std::size_t count;

void nothing(void*) {}

void begin(FaultScene& scene) {
  EXPECT_EQ(cudaSuccess, cudaStreamBeginCapture(scene.stream, kGlobal));
}

int add_kernel(FaultScene& scene) {
  const cudaKernelNodeParams params = scene.kernel_params();
  return cudaGraphAddKernelNode(&node, scene.graph, nullptr, 0, &params);
}

int add_fill(FaultScene& scene) {
  const cudaMemsetParams params = scene.fill_params();
  return cudaGraphAddMemsetNode(&node, scene.graph, nullptr, 0, &params);
}

int add_host(FaultScene& scene) {
  const cudaHostNodeParams params{nothing, nullptr};
  return cudaGraphAddHostNode(&node, scene.graph, nullptr, 0, &params);
}

int ask_kernel(FaultScene& scene) {
  cudaKernelNodeParams params{};
  return cudaGraphKernelNodeGetParams(scene.kernel_node, &params);
}

int set_kernel(FaultScene& scene) {
  const cudaKernelNodeParams params = scene.kernel_params();
  return cudaGraphExecKernelNodeSetParams(scene.exec, scene.kernel_node, &params);
}

int set_fill(FaultScene& scene) {
  const cudaMemsetParams params = scene.fill_params();
  return cudaGraphExecMemsetNodeSetParams(scene.exec, scene.fill_node, &params);
}

#define ROW(name, ...)                                                 \
  {                                                                    \
#name, [](FaultScene& s) -> int { (void)s; return name(__VA_ARGS__); } \
  }

constexpr FaultRow kRows[] = {
    ROW(cudaStreamBeginCapture, s.stream, kGlobal),
    ROW(cudaStreamBeginCaptureToGraph, s.stream, s.graph, nullptr, nullptr, 0, kGlobal),
    {"cudaStreamEndCapture",
     [](FaultScene& s) -> int { return cudaStreamEndCapture(s.stream, &graph); }, 0, begin},
    ROW(cudaStreamIsCapturing, s.stream, &status),
    ROW(cudaStreamGetCaptureInfo, s.stream, &status),
    ROW(cudaThreadExchangeStreamCaptureMode, &mode),
    ROW(cudaGraphCreate, &graph, 0),
    ROW(cudaGraphDestroy, s.graph),
    {"cudaGraphAddKernelNode", add_kernel},
    ROW(cudaGraphAddMemcpyNode1D, &node, s.graph, nullptr, 0, s.host, s.device, kSceneBytes,
        cudaMemcpyDeviceToHost),
    {"cudaGraphAddMemsetNode", add_fill},
    {"cudaGraphAddHostNode", add_host},
    ROW(cudaGraphAddEmptyNode, &node, s.graph, nullptr, 0),
    ROW(cudaGraphAddDependencies, s.graph, &s.kernel_node, &s.fill_node, nullptr, 1),
    ROW(cudaGraphGetNodes, s.graph, nullptr, &count),
    ROW(cudaGraphGetEdges, s.graph, nullptr, nullptr, nullptr, &count),
    ROW(cudaGraphNodeGetType, s.kernel_node, &type),
    ROW(cudaGraphNodeGetDependencies, s.copy_node, nullptr, nullptr, &count),
    {"cudaGraphKernelNodeGetParams", ask_kernel},
    ROW(cudaGraphInstantiate, &exec, s.graph, 0),
    ROW(cudaGraphUpload, s.exec, s.stream),
    ROW(cudaGraphLaunch, s.exec, s.stream),
    ROW(cudaGraphExecUpdate, s.exec, s.graph, &updated),
    {"cudaGraphExecKernelNodeSetParams", set_kernel},
    ROW(cudaGraphExecMemcpyNodeSetParams1D, s.exec, s.copy_node, s.host, s.device, kSceneBytes,
        cudaMemcpyDeviceToHost),
    {"cudaGraphExecMemsetNodeSetParams", set_fill},
    ROW(cudaGraphExecDestroy, s.exec),
};

}  // namespace

std::span<const FaultRow> graph_rows() { return kRows; }

}  // namespace stepscope::cudasim
