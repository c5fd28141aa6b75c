// Graphs: explicit nodes, captures into them, executables, lints.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/graph_support.h"
//
#include <cstring>

namespace stepscope::cudasim {
namespace {

using Edges = std::vector<std::pair<int, int>>;

class Graphs : public GraphTest {};

// in -> device, fill of a second buffer, add, sum, device -> out, host function.
struct Story {
  int *in, *out, *a, *b;
  int calls = 0;
};

void count_call(void* story) { ++static_cast<Story*>(story)->calls; }

void capture_story(cudaStream_t s, Story& story) {
  CUDA_OK(cudaMemcpyAsync(story.a, story.in, kBytes, cudaMemcpyHostToDevice, s));
  CUDA_OK(cudaMemsetAsync(story.b, 0, kBytes, s));
  CUDA_OK(cuda::launch(s, 1, kCount, 0, add_to, story.b, 5));
  CUDA_OK(cuda::launch(s, 1, kCount, 0, sum_of, story.b, story.a, story.b));
  CUDA_OK(cudaMemcpyAsync(story.out, story.b, kBytes, cudaMemcpyDeviceToHost, s));
  CUDA_OK(cudaLaunchHostFunc(s, count_call, &story));
}

TEST_F(Graphs, ExplicitNodesAreWhatACaptureMakes) {
  const cudaStream_t s = stream();
  Story story{pinned(1), pinned(), ints(), ints()};
  begin(s);
  capture_story(s, story);
  const cudaGraph_t captured = end(s);

  const cudaGraph_t made = graph();
  cudaGraphNode_t n[6];
  KernelParams add(add_to, story.b, 5);
  void* sum_arguments[] = {&story.b, &story.a, &story.b};
  cudaKernelNodeParams sum{};
  sum.func = reinterpret_cast<void*>(sum_of);
  sum.gridDim = 1;
  sum.blockDim = kCount;
  sum.kernelParams = sum_arguments;
  // A fill of bytes, as cudaMemsetAsync makes it.
  const cudaMemsetParams zero = fill(story.b, 0, kBytes, 1, 1);
  const cudaHostNodeParams host{count_call, &story};
  CUDA_OK(cudaGraphAddMemcpyNode1D(&n[0], made, nullptr, 0, story.a, story.in, kBytes,
                                   cudaMemcpyHostToDevice));
  CUDA_OK(cudaGraphAddMemsetNode(&n[1], made, &n[0], 1, &zero));
  CUDA_OK(cudaGraphAddKernelNode(&n[2], made, &n[1], 1, &add));
  CUDA_OK(cudaGraphAddKernelNode(&n[3], made, &n[2], 1, &sum));
  CUDA_OK(cudaGraphAddMemcpyNode1D(&n[4], made, &n[3], 1, story.out, story.b, kBytes,
                                   cudaMemcpyDeviceToHost));
  CUDA_OK(cudaGraphAddHostNode(&n[5], made, &n[4], 1, &host));

  EXPECT_EQ(types_of(captured), types_of(made));
  EXPECT_EQ(edges_of(captured), edges_of(made));
  int runs = 0;
  for (const cudaGraph_t each : {captured, made}) {
    std::memset(story.out, 0, kBytes);
    CUDA_OK(cudaGraphLaunch(instantiated(each), s));
    CUDA_OK(cudaStreamSynchronize(s));
    EXPECT_EQ((std::vector{6, 7, 8, 9, 10, 11, 12, 13}),
              std::vector<int>(story.out, story.out + kCount));
    EXPECT_EQ(++runs, story.calls);
  }
  // And one may be updated by the other, which is the same graph by CUDA's own comparison.
  cudaGraphExecUpdateResultInfo info;
  CUDA_OK(cudaGraphExecUpdate(instantiated(captured), made, &info));
}

TEST_F(Graphs, NodesTellTheirDependenciesAndParameters) {
  const cudaGraph_t made = graph();
  cudaGraphNode_t a, b, c, d;
  KernelParams params(set_to, ints_, 42);
  CUDA_OK(cudaGraphAddEmptyNode(&a, made, nullptr, 0));
  CUDA_OK(cudaGraphAddEmptyNode(&b, made, nullptr, 0));
  const cudaGraphNode_t both[] = {a, b};
  CUDA_OK(cudaGraphAddKernelNode(&c, made, both, 2, &params));
  params.value_ = 7;  // copied when the node was made
  CUDA_OK(cudaGraphAddEmptyNode(&d, made, nullptr, 0));
  CUDA_OK(cudaGraphAddDependencies(made, &c, &d, nullptr, 1));
  EXPECT_EQ((Edges{{0, 2}, {1, 2}, {2, 3}}), edges_of(made));

  cudaGraphNode_t found[4] = {c, c, c, c};
  cudaGraphEdgeData data[4];
  std::memset(data, 1, sizeof data);
  std::size_t count = 0;
  CUDA_OK(cudaGraphNodeGetDependencies(c, nullptr, nullptr, &count));
  EXPECT_EQ(2u, count);
  count = 4;
  CUDA_OK(cudaGraphNodeGetDependencies(c, found, data, &count));
  EXPECT_EQ(2u, count);
  EXPECT_EQ((std::vector<cudaGraphNode_t>{a, b, nullptr, nullptr}),
            std::vector<cudaGraphNode_t>(found, found + 4));
  EXPECT_EQ(0, data[1].type);
  count = 1;
  CUDA_OK(cudaGraphGetNodes(made, found, &count));
  EXPECT_EQ(1u, count);
  EXPECT_EQ(a, found[0]);

  cudaKernelNodeParams told{};
  CUDA_OK(cudaGraphKernelNodeGetParams(c, &told));
  EXPECT_EQ(reinterpret_cast<void*>(set_to), told.func);
  EXPECT_EQ(static_cast<unsigned>(kCount), told.blockDim.x);
  EXPECT_EQ(ints_, *static_cast<int**>(told.kernelParams[0]));
  EXPECT_EQ(42, *static_cast<int*>(told.kernelParams[1]));
  expect_refused(cudaErrorInvalidValue, cudaGraphKernelNodeGetParams(a, &told));
}

// Adds 1, and may start before the kernel ahead of it ends.
cudaError_t launch_programmatic(cudaStream_t stream, int* data) {
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeIgnore;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  KernelParams kernel(add_to, data, 1);
  cudaLaunchConfig_t config{};
  config.gridDim = kernel.gridDim;
  config.blockDim = kernel.blockDim;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 2;
  return cudaLaunchKernelExC(&config, kernel.func, kernel.kernelParams);
}

TEST_F(Graphs, Rule36_ProgrammaticLaunchesLeaveEdgesThatMustBeAskedFor) {
  const cudaStream_t s = stream();
  begin(s);
  CUDA_OK(launch_programmatic(s, ints_));
  CUDA_OK(launch_programmatic(s, ints_));
  CUDA_OK(cuda::launch(s, 1, kCount, 0, add_to, ints_, 1));
  const cudaGraph_t captured = end(s);
  cudaGraphNode_t nodes[3], before[2], after[2];
  std::size_t count = 3;
  CUDA_OK(cudaGraphGetNodes(captured, nodes, &count));
  cudaGraphEdgeData data[2];
  count = 2;
  CUDA_OK(cudaGraphNodeGetDependencies(nodes[1], before, data, &count));
  EXPECT_EQ(cudaGraphDependencyTypeProgrammatic, data[0].type);
  EXPECT_EQ(cudaGraphKernelNodePortProgrammatic, data[0].from_port);
  expect_refused(cudaErrorLossyQuery,
                 cudaGraphNodeGetDependencies(nodes[1], before, nullptr, &count));
  for (const int plain : {0, 2}) {
    CUDA_OK(cudaGraphNodeGetDependencies(nodes[plain], before, nullptr, &count));
  }
  count = 2;
  expect_refused(cudaErrorLossyQuery, cudaGraphGetEdges(captured, before, after, nullptr, &count));
  CUDA_OK(cudaGraphGetEdges(captured, before, after, data, &count));
  EXPECT_EQ(cudaGraphDependencyTypeProgrammatic, data[0].type);
  EXPECT_EQ(cudaGraphDependencyTypeDefault, data[1].type);
  CUDA_OK(cudaGraphLaunch(instantiated(captured), s));
  CUDA_OK(cudaStreamSynchronize(s));
}

TEST_F(Graphs, BadNodesAreRefused) {
  const cudaGraph_t made = graph(), other = graph();
  cudaGraphNode_t a, b, foreign, node;
  CUDA_OK(cudaGraphAddEmptyNode(&a, made, nullptr, 0));
  CUDA_OK(cudaGraphAddEmptyNode(&b, made, &a, 1));
  CUDA_OK(cudaGraphAddEmptyNode(&foreign, other, nullptr, 0));
  const cudaGraphNode_t twice[] = {a, a};
  const auto nobody = reinterpret_cast<cudaGraph_t>(&node);
  const auto no_node = reinterpret_cast<cudaGraphNode_t>(&node);
  std::size_t count = 0;
  cudaGraphNodeType type;
  cudaGraphEdgeData programmatic{};
  programmatic.type = cudaGraphDependencyTypeProgrammatic;
  const auto refused = [](cudaError_t result) { expect_refused(cudaErrorInvalidValue, result); };
  refused(cudaGraphAddEmptyNode(&node, made, twice, 2));
  refused(cudaGraphAddEmptyNode(&node, made, &foreign, 1));
  refused(cudaGraphAddEmptyNode(&node, made, nullptr, 1));
  refused(cudaGraphAddEmptyNode(nullptr, made, nullptr, 0));
  refused(cudaGraphAddEmptyNode(&node, nobody, nullptr, 0));
  refused(cudaGraphAddDependencies(made, &a, &b, nullptr, 1));  // is there already
  refused(cudaGraphAddDependencies(made, &a, &a, nullptr, 1));
  refused(cudaGraphAddDependencies(made, &b, &foreign, nullptr, 1));
  refused(cudaGraphAddDependencies(made, nullptr, &b, nullptr, 1));
  refused(cudaGraphGetNodes(made, nullptr, nullptr));
  refused(cudaGraphGetEdges(made, &node, nullptr, nullptr, &count));
  refused(cudaGraphNodeGetType(no_node, &type));
  refused(cudaGraphNodeGetDependencies(a, nullptr, &programmatic, &count));
  refused(cudaGraphDestroy(nobody));
  refused(cudaGraphDestroy(nullptr));
  refused(cudaGraphCreate(nullptr, 0));
  expect_refused(cudaErrorNotSupported, cudaGraphAddDependencies(made, &b, &a, &programmatic, 1));
  EXPECT_EQ((Edges{{0, 1}}), edges_of(made));
}

TEST_F(Graphs, BadParametersAreRefused) {
  const cudaGraph_t made = graph();
  cudaGraphNode_t node;
  const auto add_kernel = [&](auto change) {
    KernelParams params(set_to, ints_, 1);
    change(params);
    return cudaGraphAddKernelNode(&node, made, nullptr, 0, &params);
  };
  int unknown = 0;
  void* extra[] = {nullptr};
  expect_refused(cudaErrorInvalidDeviceFunction, add_kernel([&](auto& p) { p.func = &unknown; }));
  expect_refused(cudaErrorInvalidConfiguration, add_kernel([](auto& p) { p.blockDim.x = 1025; }));
  expect_refused(cudaErrorInvalidConfiguration, add_kernel([](auto& p) { p.gridDim.y = 0; }));
  expect_refused(cudaErrorInvalidValue, add_kernel([](auto& p) { p.sharedMemBytes = 49'153; }));
  expect_refused(cudaErrorInvalidValue, add_kernel([&](auto& p) { p.extra = extra; }));
  expect_refused(cudaErrorInvalidValue, add_kernel([](auto& p) { p.kernelParams = nullptr; }));
  const auto refused = [](cudaError_t result) { expect_refused(cudaErrorInvalidValue, result); };
  refused(cudaGraphAddKernelNode(&node, made, nullptr, 0, nullptr));
  refused(cudaGraphAddMemsetNode(&node, made, nullptr, 0, nullptr));
  refused(cudaGraphAddHostNode(&node, made, nullptr, 0, nullptr));
  cudaMemsetParams params = fill(ints_, 0, kCount, 1, 3);
  refused(cudaGraphAddMemsetNode(&node, made, nullptr, 0, &params));
  params = fill(ints_, 0, kCount + 1);
  refused(cudaGraphAddMemsetNode(&node, made, nullptr, 0, &params));
  refused(
      cudaGraphAddMemcpyNode1D(&node, made, nullptr, 0, ints_, nullptr, 4, cudaMemcpyHostToDevice));
  refused(cudaGraphAddMemcpyNode1D(&node, made, nullptr, 0, ints_, pinned(), kBytes + 4,
                                   cudaMemcpyHostToDevice));
  EXPECT_EQ(0u, nodes_of(made).size());
}

TEST_F(Graphs, FillsOfWordsAndRows) {
  const cudaStream_t s = stream();
  const cudaGraph_t made = graph();
  cudaGraphNode_t node;
  int* const data = ints();
  const cudaMemsetParams words = fill(data, 0x01020304, 3);
  const cudaMemsetParams rows = fill(data + 4, 0x7F, 1, 2, 2, 8);
  CUDA_OK(cudaGraphAddMemsetNode(&node, made, nullptr, 0, &words));
  CUDA_OK(cudaGraphAddMemsetNode(&node, made, nullptr, 0, &rows));
  CUDA_OK(cudaGraphLaunch(instantiated(made), s));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ((std::vector{0x01020304, 0x01020304, 0x01020304, 0, 0x7F, 0, 0x7F, 0}), read(data));
}

TEST_F(Graphs, ACycleIsNotInstantiated) {
  const cudaGraph_t made = graph();
  cudaGraphNode_t a, b, c;
  CUDA_OK(cudaGraphAddEmptyNode(&a, made, nullptr, 0));
  CUDA_OK(cudaGraphAddEmptyNode(&b, made, &a, 1));
  CUDA_OK(cudaGraphAddEmptyNode(&c, made, &b, 1));
  CUDA_OK(cudaGraphAddDependencies(made, &c, &b, nullptr, 1));
  cudaGraphExec_t exec = nullptr;
  expect_refused(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, made, 0));
  EXPECT_EQ(nullptr, exec);
}

TEST_F(Graphs, OnlyOneFlagOfInstantiationIsKnown) {
  const cudaGraph_t made = graph();
  cudaGraphExec_t exec = nullptr;
  expect_refused(cudaErrorInvalidValue,
                 cudaGraphInstantiate(&exec, made, cudaGraphInstantiateFlagUpload));
  expect_refused(cudaErrorInvalidValue, cudaGraphInstantiate(&exec, made, 1 << 20));
  expect_refused(cudaErrorNotSupported,
                 cudaGraphInstantiate(&exec, made, cudaGraphInstantiateFlagDeviceLaunch));
  EXPECT_NE(nullptr, instantiated(made, cudaGraphInstantiateFlagAutoFreeOnLaunch));
}

TEST_F(Graphs, EdgesAreFollowedWhateverTheOrderOfNodes) {
  const cudaStream_t s = stream();
  const cudaGraph_t made = graph();
  cudaGraphNode_t later, sooner;
  int* const data = ints();
  KernelParams add(add_to, data, 1), set(set_to, data, 10);
  CUDA_OK(cudaGraphAddKernelNode(&later, made, nullptr, 0, &add));
  CUDA_OK(cudaGraphAddKernelNode(&sooner, made, nullptr, 0, &set));
  CUDA_OK(cudaGraphAddDependencies(made, &sooner, &later, nullptr, 1));
  const cudaGraphExec_t exec = instantiated(made);
  for (int i = 0; i < 2; ++i) {
    CUDA_OK(cudaGraphLaunch(exec, s));
    CUDA_OK(cudaStreamSynchronize(s));
    EXPECT_EQ(all(11), read(data));
  }
}

TEST_F(Graphs, ACaptureGoesIntoAGraphThatIsThere) {
  const cudaStream_t s = stream();
  const cudaGraph_t made = graph();
  cudaGraphNode_t first, apart;
  int* const data = ints();
  KernelParams set(set_to, data, 10);
  CUDA_OK(cudaGraphAddKernelNode(&first, made, nullptr, 0, &set));
  CUDA_OK(cudaGraphAddEmptyNode(&apart, made, nullptr, 0));
  CUDA_OK(cudaStreamBeginCaptureToGraph(s, made, &first, nullptr, 1, cudaStreamCaptureModeGlobal));
  expect_refused(cudaErrorInvalidValue, cudaGraphDestroy(made));  // not while it is captured into
  expect_refused(cudaErrorInvalidValue,
                 cudaStreamBeginCaptureToGraph(stream(), made, nullptr, nullptr, 0,
                                               cudaStreamCaptureModeGlobal));
  CUDA_OK(add(s, data, 1));
  CUDA_OK(add(s, data, 1));
  cudaGraph_t ended = nullptr;
  CUDA_OK(cudaStreamEndCapture(s, &ended));
  EXPECT_EQ(made, ended);
  EXPECT_EQ((Edges{{0, 2}, {2, 3}}), edges_of(made));
  CUDA_OK(cudaGraphLaunch(instantiated(made), s));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(all(12), read(data));

  // Invalid: no graph comes back, but the caller's is the caller's.
  CUDA_OK(cudaStreamBeginCaptureToGraph(s, made, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  expect_broken(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s), s);
  EXPECT_EQ(4u, nodes_of(made).size());

  cudaGraphNode_t foreign;
  CUDA_OK(cudaGraphAddEmptyNode(&foreign, graph(), nullptr, 0));
  expect_refused(cudaErrorInvalidValue, cudaStreamBeginCaptureToGraph(s, made, &foreign, nullptr, 1,
                                                                      cudaStreamCaptureModeGlobal));
  expect_refused(
      cudaErrorInvalidValue,
      cudaStreamBeginCaptureToGraph(s, nullptr, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(s));
}

TEST_F(Graphs, WhatIsLeftIsALint) {
  cudaGraph_t made = nullptr;
  cudaGraphExec_t exec = nullptr;
  CUDA_OK(cudaGraphCreate(&made, 0));
  CUDA_OK(cudaGraphInstantiate(&exec, made, 0));
  expect_lints({Lint::leak, Lint::leak});
}

TEST_F(Graphs, PageableMemoryInANodeIsALint) {
  std::vector<int> own(kCount);
  int* const host = pinned();
  const cudaGraph_t made = graph();
  cudaGraphNode_t node;
  CUDA_OK(
      cudaGraphAddMemcpyNode1D(&node, made, nullptr, 0, ints_, host, kBytes, cudaMemcpyDefault));
  CUDA_OK(cudaGraphAddMemcpyNode1D(&node, made, nullptr, 0, own.data(), ints_, kBytes,
                                   cudaMemcpyDefault));
  expect_lints({Lint::pageable_captured});
}

TEST_F(Graphs, MemoryFreedBeforeAnExecutableIsALint) {
  const cudaStream_t s = stream();
  void *one = nullptr, *two = nullptr, *host = nullptr, *apart = nullptr;
  CUDA_OK(cudaMalloc(&one, kBytes));
  CUDA_OK(cudaMalloc(&two, kBytes));
  CUDA_OK(cudaMalloc(&apart, kBytes));
  CUDA_OK(cudaMallocHost(&host, kBytes));
  begin(s);
  CUDA_OK(cudaMemcpyAsync(two, host, kBytes, cudaMemcpyHostToDevice, s));
  CUDA_OK(add(s, static_cast<int*>(one) + 3, 1));  // an address inside counts
  const cudaGraphExec_t exec = instantiated(end(s));
  CUDA_OK(cudaFree(apart));
  CUDA_OK(cudaFree(one));
  CUDA_OK(cudaFreeHost(host));
  destroy(exec);
  CUDA_OK(cudaFree(two));
  expect_lints({Lint::freed_before_exec, Lint::freed_before_exec});
}

}  // namespace
}  // namespace stepscope::cudasim
