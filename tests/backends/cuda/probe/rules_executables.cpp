// Rules 24, 25, 28: launches of executables, their life, and setting parameters of their nodes.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "tests/backends/cuda/probe/kernels.h"
#include "tests/backends/cuda/probe/rules.h"
#include "tests/backends/cuda/probe/scene.h"

namespace stepscope::probe {
namespace {

constexpr int kLaunches = 10;  // on each of two streams

void ordered_launches(Report& report) {
  Stream first, second;
  const DeviceInts data;
  first.begin();
  must(launch_slow_increment(first, data.data()), "launch");
  const Graph graph(first);
  const Executable executable(graph);
  cudaError_t error = cudaSuccess;
  for (int launch = 0; launch < kLaunches && error == cudaSuccess; ++launch) {
    error = cudaGraphLaunch(executable, first);
    if (error == cudaSuccess) {
      error = cudaGraphLaunch(executable, second);
    }
  }
  report.code("20 launches of one executable on two streams, no wait between", error);
  report.value("increments seen", data.first());
  report.code("*3 on a stream", launch_scale_add(first, data.data(), 3, 0));
  report.code("launch the graph behind it", cudaGraphLaunch(executable, first));
  report.code("*2 behind that", launch_scale_add(first, data.data(), 2, 0));
  report.value("the value, (20*3+1)*2", data.first());
}

// A node's parameters; what they point to must outlive them.
struct AddNode {
  int* data;
  int amount;
  void* arguments[2] = {&data, &amount};
  cudaKernelNodeParams parameters() {
    cudaKernelNodeParams result{};
    result.func = const_cast<void*>(add_kernel());
    result.gridDim = result.blockDim = dim3(1);
    result.kernelParams = arguments;
    return result;
  }
};

cudaGraphNode_t add_to(cudaGraph_t graph, int* data, int amount) {
  AddNode wanted{data, amount};
  const cudaKernelNodeParams parameters = wanted.parameters();
  cudaGraphNode_t node = nullptr;
  must(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters), "cudaGraphAddKernelNode");
  return node;
}

void outlives_its_graph(Report& report) {
  Stream stream;
  const DeviceInts data;
  Graph graph;
  const cudaGraphNode_t node = add_to(graph, data.data(), 1);
  const Executable executable(graph);
  report.code("launch", cudaGraphLaunch(executable, stream));
  AddNode other{data.data(), 10};
  const cudaKernelNodeParams parameters = other.parameters();
  report.code("set the node's parameters to add 10",
              cudaGraphExecKernelNodeSetParams(executable, node, &parameters));
  report.code("launch again", cudaGraphLaunch(executable, stream));
  report.value("the value, 1 and 10 added", data.first());
  cudaKernelNodeParams asked{};
  report.code("ask the graph's node", cudaGraphKernelNodeGetParams(node, &asked));
  report.value("it still adds", *static_cast<int*>(asked.kernelParams[1]));
  graph.drop();
  report.code("launch after the graph was destroyed", cudaGraphLaunch(executable, stream));
  report.value("the value", data.first());
}

void destroyed_while_running(Report& report) {
  Stream stream;
  const DeviceInts data;
  {
    stream.begin();
    must(launch_slow_increment(stream, data.data()), "launch");
    const Graph graph(stream);
    const Executable executable(graph);
    report.code("launch, then destroy graph and executable", cudaGraphLaunch(executable, stream));
  }
  report.value("the value", data.first());
}

void foreign_node(Report& report) {
  const DeviceInts data;
  Graph graph, other;
  add_to(graph, data.data(), 1);
  const cudaGraphNode_t foreign = add_to(other, data.data(), 1);
  const Executable executable(graph);
  AddNode wanted{data.data(), 7};
  const cudaKernelNodeParams parameters = wanted.parameters();
  report.code("set the parameters of another graph's node",
              cudaGraphExecKernelNodeSetParams(executable, foreign, &parameters));
}

void lives(Report& report) {
  outlives_its_graph(report);
  destroyed_while_running(report);
}

constexpr std::array kRules = {
    Rule{24, "a launch follows its stream and its executable's launches", ordered_launches},
    Rule{25, "an executable outlives its graph; updates reach later launches", lives},
    Rule{28, "setting parameters needs a node of the original graph", foreign_node},
};

}  // namespace

std::span<const Rule> rules_of_executables() { return kRules; }

}  // namespace stepscope::probe
