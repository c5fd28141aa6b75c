// What the tests of captures and graphs share: kernels, and a fixture that destroys what it made.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/sim/prelude.h"
//
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::cudasim {

inline constexpr int kCount = 8;  // ints of each buffer; one block
inline constexpr std::size_t kBytes = sizeof(int) * kCount;

// One definition for all files, since the fixture launches them, too.
__global__ inline void set_to(int* data, int value) { data[threadIdx.x] = value; }
__global__ inline void add_to(int* data, int value) { data[threadIdx.x] += value; }
__global__ inline void sum_of(int* out, const int* a, const int* b) {
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

// The parameters of a node that runs set_to or add_to.
struct KernelParams : cudaKernelNodeParams {
  KernelParams(void (*kernel)(int*, int), int* data, int value) : data_(data), value_(value) {
    func = reinterpret_cast<void*>(kernel);
    gridDim = 1;
    blockDim = kCount;
    sharedMemBytes = 0;
    kernelParams = arguments_;
    extra = nullptr;
  }
  KernelParams(const KernelParams&) = delete;
  KernelParams& operator=(const KernelParams&) = delete;
  int* data_;
  int value_;
  void* arguments_[2] = {&data_, &value_};
};

inline cudaMemsetParams fill(void* to, unsigned value, std::size_t width, std::size_t height = 1,
                             unsigned size = 4, std::size_t pitch = 0) {
  cudaMemsetParams params{};
  params.dst = to;
  params.value = value;
  params.elementSize = size;
  params.width = width;
  params.height = height;
  params.pitch = pitch;
  return params;
}

inline std::vector<int> all(int value) { return std::vector<int>(kCount, value); }

class GraphTest : public SimTest {
 protected:
  // So that no test trips over first_use_in_capture; what it prepares has run when it returns.
  void SetUp() override {
    SimTest::SetUp();
    ints_ = ints();
    CUDA_OK(cuda::launch(nullptr, 1, kCount, 0, set_to, ints_, 0));
    CUDA_OK(cuda::launch(nullptr, 1, kCount, 0, add_to, ints_, 0));
    CUDA_OK(cuda::launch(nullptr, 1, kCount, 0, sum_of, ints_, ints_, ints_));
    CUDA_OK(cudaDeviceSynchronize());
  }

  void TearDown() override {
    const auto clean = [](auto& handles, auto give_back) {
      for (auto handle : handles) EXPECT_EQ(cudaSuccess, give_back(handle));
      handles.clear();
    };
    clean(execs_, cudaGraphExecDestroy);
    clean(graphs_, cudaGraphDestroy);
    clean(events_, cudaEventDestroy);
    clean(streams_, cudaStreamDestroy);
    clean(pinned_, cudaFreeHost);
    clean(device_, cudaFree);
    SimTest::TearDown();
  }

  cudaStream_t stream(unsigned flags = cudaStreamNonBlocking) {
    cudaStream_t made = nullptr;
    EXPECT_EQ(cudaSuccess, cudaStreamCreateWithFlags(&made, flags));
    return streams_.emplace_back(made);
  }
  cudaEvent_t event() {
    cudaEvent_t made = nullptr;
    EXPECT_EQ(cudaSuccess, cudaEventCreate(&made));
    return events_.emplace_back(made);
  }
  int* ints() {  // device memory, zero
    void* made = nullptr;
    EXPECT_EQ(cudaSuccess, cudaMalloc(&made, kBytes));
    zero(made);
    device_.push_back(made);
    return static_cast<int*>(made);
  }
  // Now: streams that do not block are not ordered behind the legacy one.
  static void zero(void* data) {
    EXPECT_EQ(cudaSuccess, cudaMemset(data, 0, kBytes));
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(nullptr));
  }
  int* pinned(int first = 0) {  // first, first + 1, ...
    void* made = nullptr;
    EXPECT_EQ(cudaSuccess, cudaMallocHost(&made, kBytes));
    pinned_.push_back(made);
    std::iota(static_cast<int*>(made), static_cast<int*>(made) + kCount, first);
    return static_cast<int*>(made);
  }
  cudaGraph_t graph() {
    cudaGraph_t made = nullptr;
    EXPECT_EQ(cudaSuccess, cudaGraphCreate(&made, 0));
    return graphs_.emplace_back(made);
  }
  cudaGraphExec_t instantiated(cudaGraph_t graph, unsigned long long flags = 0) {
    cudaGraphExec_t made = nullptr;
    EXPECT_EQ(cudaSuccess, cudaGraphInstantiate(&made, graph, flags));
    if (made != nullptr) execs_.push_back(made);
    return made;
  }
  // After a reset() in the middle: the handles are none any more.
  void forget() {
    streams_.clear(), events_.clear(), graphs_.clear(), execs_.clear();
    device_.clear(), pinned_.clear();
  }
  // Those that a test destroys itself.
  void destroy(cudaGraph_t graph) {
    EXPECT_EQ(cudaSuccess, cudaGraphDestroy(graph));
    std::erase(graphs_, graph);
  }
  void destroy(cudaGraphExec_t exec) {
    EXPECT_EQ(cudaSuccess, cudaGraphExecDestroy(exec));
    std::erase(execs_, exec);
  }

  void begin(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    ASSERT_EQ(cudaSuccess, cudaStreamBeginCapture(stream, mode));
  }
  cudaGraph_t end(cudaStream_t stream) {
    cudaGraph_t made = nullptr;
    EXPECT_EQ(cudaSuccess, cudaStreamEndCapture(stream, &made));
    if (made != nullptr) graphs_.push_back(made);
    return made;
  }
  // The capture ends with this code and gives no graph.
  void expect_end(cudaError_t code, cudaStream_t stream) {
    cudaGraph_t made = reinterpret_cast<cudaGraph_t>(this);
    expect_refused(code, cudaStreamEndCapture(stream, &made));
    EXPECT_EQ(nullptr, made);
    EXPECT_EQ(cudaStreamCaptureStatusNone, status(stream));
  }
  // A refused call that made the capture in the stream invalid, and what then comes of it.
  void expect_broken(cudaError_t code, cudaError_t result, cudaStream_t stream) {
    expect_refused(code, result);
    EXPECT_EQ(cudaStreamCaptureStatusInvalidated, status(stream));
    EXPECT_NE("", capture_fault());
    expect_end(cudaErrorStreamCaptureInvalidated, stream);
  }
  static cudaStreamCaptureStatus status(cudaStream_t stream) {
    cudaStreamCaptureStatus found = cudaStreamCaptureStatusNone;
    EXPECT_EQ(cudaSuccess, cudaStreamIsCapturing(stream, &found));
    return found;
  }

  static cudaError_t set(cudaStream_t stream, int* data, int value) {
    return cuda::launch(stream, 1, kCount, 0, set_to, data, value);
  }
  static cudaError_t add(cudaStream_t stream, int* data, int value) {
    return cuda::launch(stream, 1, kCount, 0, add_to, data, value);
  }
  static std::vector<int> read(const int* data) {
    std::vector<int> values(kCount);
    EXPECT_EQ(cudaSuccess, cudaMemcpy(values.data(), data, kBytes, cudaMemcpyDeviceToHost));
    return values;
  }

  static std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
    std::size_t count = 0;
    EXPECT_EQ(cudaSuccess, cudaGraphGetNodes(graph, nullptr, &count));
    std::vector<cudaGraphNode_t> nodes(count);
    EXPECT_EQ(cudaSuccess, cudaGraphGetNodes(graph, nodes.data(), &count));
    return nodes;
  }
  static std::vector<cudaGraphNodeType> types_of(cudaGraph_t graph) {
    std::vector<cudaGraphNodeType> types;
    for (cudaGraphNode_t node : nodes_of(graph)) {
      EXPECT_EQ(cudaSuccess, cudaGraphNodeGetType(node, &types.emplace_back()));
    }
    return types;
  }
  // Pairs of places in nodes_of(): from, to; sorted as CUDA lists them, by the later node.
  static std::vector<std::pair<int, int>> edges_of(cudaGraph_t graph) {
    const std::vector<cudaGraphNode_t> nodes = nodes_of(graph);
    std::size_t count = 0;
    EXPECT_EQ(cudaSuccess, cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    std::vector<cudaGraphNode_t> from(count), to(count);
    EXPECT_EQ(cudaSuccess, cudaGraphGetEdges(graph, from.data(), to.data(), nullptr, &count));
    const auto place = [&](cudaGraphNode_t node) {
      return static_cast<int>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
    };
    std::vector<std::pair<int, int>> edges;
    for (std::size_t i = 0; i < count; ++i) edges.emplace_back(place(from[i]), place(to[i]));
    return edges;
  }

  int* ints_ = nullptr;  // for what only has to be somewhere

 private:
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
  std::vector<void*> device_, pinned_;
  std::vector<cudaGraph_t> graphs_;
  std::vector<cudaGraphExec_t> execs_;
};

}  // namespace stepscope::cudasim
