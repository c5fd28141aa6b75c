// Rules 20, 21, 22: host functions and stream-ordered memory in captures.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "tests/backends/cuda/probe/kernels.h"
#include "tests/backends/cuda/probe/rules.h"
#include "tests/backends/cuda/probe/scene.h"

namespace stepscope::probe {
namespace {

void count(void* counter) { ++*static_cast<int*>(counter); }

void count_call(cudaStream_t, cudaError_t, void* counter) { count(counter); }

// Nothing says what a refusal of the stream's own leaves of the capture.
void refused_otherwise(Report& report) {
  Stream stream;
  stream.begin();
  report.code("a launch of 2,000 threads in a capture", launch_nothing(stream, 1, 2000, 0),
              Settled::by_device);
  report.device_code("a refused launch, then end", stream.end());
  stream.begin();
  const Graph graph(stream);
  const Executable executable(graph);
  stream.begin();
  report.device_code("cudaGraphUpload in a capture", cudaGraphUpload(executable, stream));
  report.device_code("cudaGraphUpload, then end", stream.end());
}

void host_functions(Report& report) {
  Stream stream;
  int calls = 0;
  stream.begin();
  report.code("cudaStreamAddCallback in a capture",
              cudaStreamAddCallback(stream, count_call, &calls, 0));
  report.device_code("end", stream.end());
  refused_otherwise(report);
  stream.begin();
  report.code("cudaLaunchHostFunc in a capture", cudaLaunchHostFunc(stream, count, &calls));
  const Graph graph(stream);
  report.value("nodes", graph.types());
  report.value("calls so far", calls);
  const Executable executable(graph);
  report.code("launch the graph", cudaGraphLaunch(executable, stream));
  report.code("and again", cudaGraphLaunch(executable, stream));
  report.code("wait", cudaStreamSynchronize(stream));
  report.value("calls", calls);
}

struct Answers {
  cudaError_t allocated = cudaSuccess, asked = cudaSuccess;
};

void call_back_into_cuda(void* data) {
  auto& answers = *static_cast<Answers*>(data);
  void* memory = nullptr;
  answers.allocated = cudaMalloc(&memory, 64);
  int device = 0;
  answers.asked = cudaGetDevice(&device);
}

void calls_in_host_functions(Report& report) {
  Stream stream;
  Answers answers;
  report.code("cudaLaunchHostFunc", cudaLaunchHostFunc(stream, call_back_into_cuda, &answers));
  report.code("wait", cudaStreamSynchronize(stream));
  report.device_code("cudaMalloc in it", answers.allocated);
  report.device_code("cudaGetDevice in it", answers.asked);
}

void freed_in_the_graph(Report& report) {
  Stream stream;
  stream.begin();
  void* data = nullptr;
  report.code("cudaMallocAsync in a capture", cudaMallocAsync(&data, sizeof(int), stream));
  report.code("fill it", cudaMemsetAsync(data, 0, sizeof(int), stream));
  report.code("launch on it", launch_add(stream, static_cast<int*>(data), 1));
  report.code("cudaFreeAsync of it", cudaFreeAsync(data, stream));
  const Graph graph(stream);
  report.value("nodes", graph.types());
  const Executable executable(graph);
  report.code("launch the graph", cudaGraphLaunch(executable, stream));
  report.code("and again", cudaGraphLaunch(executable, stream));
  report.code("wait", cudaStreamSynchronize(stream));
  cudaGraphExec_t second = nullptr;
  report.device_code("a second executable of it", cudaGraphInstantiate(&second, graph, 0));
  if (second != nullptr) {
    cudaGraphExecDestroy(second);
  }
}

void left_over(Report& report) {
  Stream stream;
  stream.begin();
  void* data = nullptr;
  must(cudaMallocAsync(&data, sizeof(int), stream), "cudaMallocAsync");
  must(cudaMemsetAsync(data, 0, sizeof(int), stream), "cudaMemsetAsync");
  const Graph graph(stream);
  {
    const Executable executable(graph);
    report.code("launch a graph that frees nothing", cudaGraphLaunch(executable, stream));
    report.code("again, with its allocation still there", cudaGraphLaunch(executable, stream));
    report.code("cudaFreeAsync of the allocation", cudaFreeAsync(data, stream));
    report.code("launch it once more", cudaGraphLaunch(executable, stream));
    report.code("cudaFreeAsync again", cudaFreeAsync(data, stream));
    report.code("wait", cudaStreamSynchronize(stream));
  }
  const Executable freeing(graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  report.code("launch with automatic frees", cudaGraphLaunch(freeing, stream));
  report.code("and again", cudaGraphLaunch(freeing, stream));
  report.code("wait", cudaStreamSynchronize(stream));
  must(cudaFreeAsync(data, stream), "cudaFreeAsync");
  must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

void memory_nodes(Report& report) {
  freed_in_the_graph(report);
  left_over(report);
  Stream stream;
  const DeviceInts data;
  stream.begin();
  report.device_code("cudaFreeAsync in a capture, of memory that no graph allocated",
                     cudaFreeAsync(data.data(), stream));
  report.device_code("end", stream.end());
}

// *data += 1, allowed to start before the kernel ahead of it ends.
cudaError_t launch_programmatic(cudaStream_t stream, int* data) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = 1;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int amount = 1;
  void* arguments[] = {&data, &amount};
  return cudaLaunchKernelExC(&config, add_kernel(), arguments);
}

void programmatic_edges(Report& report) {
  Stream stream;
  const DeviceInts data;
  stream.begin();
  must(launch_add(stream, data.data(), 1), "a launch");
  report.code("a programmatic launch in a capture", launch_programmatic(stream, data.data()));
  must(launch_add(stream, data.data(), 1), "a launch");
  const Graph graph(stream);
  const std::vector<cudaGraphNode_t> nodes = graph.nodes();
  cudaGraphNode_t before[2] = {};
  cudaGraphEdgeData edges[2] = {};
  std::size_t count = 2;
  report.code("what it follows, edges not asked for",
              cudaGraphNodeGetDependencies(nodes.at(1), before, nullptr, &count));
  count = 2;
  report.code("what it follows, and the edges",
              cudaGraphNodeGetDependencies(nodes.at(1), before, edges, &count));
  report.value("type of its edge", edges[0].type);
  count = 2;
  report.code("what the launch behind it follows, edges not asked for",
              cudaGraphNodeGetDependencies(nodes.at(2), before, nullptr, &count));
  std::size_t all = 2;
  cudaGraphNode_t from[2] = {}, to[2] = {};
  report.code("all edges, their data not asked for",
              cudaGraphGetEdges(graph, from, to, nullptr, &all));
}

constexpr std::array kRules = {
    Rule{20, "host functions in captures", host_functions},
    Rule{21, "CUDA calls in a host function", calls_in_host_functions},
    Rule{22, "stream-ordered memory in captures", memory_nodes},
    Rule{36, "edges of programmatic launches", programmatic_edges},
};

}  // namespace

std::span<const Rule> rules_of_nodes() { return kRules; }

}  // namespace stepscope::probe
