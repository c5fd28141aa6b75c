// Streams, events, device memory and graphs of the rules. What fails at the end is left alone:
// after a device's fault nothing can be given back.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/probe/scene.h"

#include <fmt/format.h>

#include "tests/backends/cuda/probe/kernels.h"
#include "tests/backends/cuda/probe/report.h"

namespace stepscope::probe {

Stream::Stream(StreamKind kind) {
  must(cudaStreamCreateWithFlags(
           &handle_, kind == StreamKind::blocking ? cudaStreamDefault : cudaStreamNonBlocking),
       "cudaStreamCreateWithFlags");
}

Stream::~Stream() {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(handle_, &status) == cudaSuccess &&
      status != cudaStreamCaptureStatusNone) {
    end();
  }
  cudaStreamDestroy(handle_);
  cudaGetLastError();
}

void Stream::begin(cudaStreamCaptureMode mode) {
  must(cudaStreamBeginCapture(handle_, mode), "cudaStreamBeginCapture");
}

cudaError_t Stream::end() {
  cudaGraph_t graph = nullptr;
  const cudaError_t error = cudaStreamEndCapture(handle_, &graph);
  if (graph != nullptr) {
    cudaGraphDestroy(graph);
  }
  return error;
}

Event::Event(Timing timing) {
  must(cudaEventCreateWithFlags(&handle_,
                                timing == Timing::on ? cudaEventDefault : cudaEventDisableTiming),
       "cudaEventCreateWithFlags");
}

Event::~Event() {
  cudaEventDestroy(handle_);
  cudaGetLastError();
}

DeviceInts::DeviceInts(int value, std::size_t count) : count_(count) {
  must(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), "cudaMalloc");
  const std::vector<int> values(count, value);
  must(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // the copy may be under way
}

DeviceInts::~DeviceInts() {
  cudaFree(data_);
  cudaGetLastError();
}

int DeviceInts::first() const {
  int value = 0;
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  must(cudaMemcpy(&value, data_, sizeof(value), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return value;
}

Graph::Graph() { must(cudaGraphCreate(&handle_, 0), "cudaGraphCreate"); }

Graph::Graph(Stream& captured) {
  must(cudaStreamEndCapture(captured, &handle_), "cudaStreamEndCapture");
}

Graph::~Graph() { drop(); }

void Graph::drop() {
  if (handle_ != nullptr) {
    cudaGraphDestroy(handle_);
    cudaGetLastError();
  }
  handle_ = nullptr;
}

std::vector<cudaGraphNode_t> Graph::nodes() const {
  std::size_t count = 0;
  must(cudaGraphGetNodes(handle_, nullptr, &count), "cudaGraphGetNodes");
  std::vector<cudaGraphNode_t> nodes(count);
  if (count > 0) {
    must(cudaGraphGetNodes(handle_, nodes.data(), &count), "cudaGraphGetNodes");
  }
  return nodes;
}

std::size_t Graph::edges() const {
  std::size_t count = 0;
  must(cudaGraphGetEdges(handle_, nullptr, nullptr, nullptr, &count), "cudaGraphGetEdges");
  return count;
}

std::string Graph::types() const {
  std::vector<std::string> types;
  for (const cudaGraphNode_t node : nodes()) {
    cudaGraphNodeType type{};
    must(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
    types.push_back(name_of(type));
  }
  return types.empty() ? "none" : fmt::format("{}", fmt::join(types, " "));
}

Executable::Executable(cudaGraph_t graph, unsigned long long flags) {
  must(cudaGraphInstantiate(&handle_, graph, flags), "cudaGraphInstantiate");
}

Executable::~Executable() {
  cudaGraphExecDestroy(handle_);
  cudaGetLastError();
}

std::string status_of_capture(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &status);
  if (error != cudaSuccess) {
    cudaGetLastError();
    return cudaGetErrorName(error);
  }
  return name_of(status);
}

void warm_up() {
  const Stream stream;
  const DeviceInts data;
  must(launch_add(stream, data.data(), 1), "the first launch");
  must(launch_scale_add(stream, data.data(), 1, 1), "the first launch");
  must(launch_slow_increment(stream, data.data()), "the first launch");
  must(launch_nothing(stream, dim3(1), dim3(1), 0), "the first launch");
  must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace stepscope::probe
