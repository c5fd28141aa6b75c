// Launches of executable graphs: rules 21, 24 and 25 of docs/cuda-simulator.md.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/graph_support.h"
//

namespace stepscope::cudasim {
namespace {

class Launches : public GraphTest {};

__global__ void first_met_in_node(int* data, int value) { data[threadIdx.x] = value; }

TEST_F(Launches, Rule21_HostFunctionsMakeNoCalls) {
  struct Seen {
    int* data;
    std::vector<cudaError_t> results;
  } seen{ints_, {}};
  const auto calls = [](void* data) {
    Seen& into = *static_cast<Seen*>(data);
    void* made = nullptr;
    int device = 0;
    into.results = {cudaMalloc(&made, 4), cudaStreamSynchronize(nullptr),
                    set(nullptr, into.data, 1), cudaGetDevice(&device)};
  };
  const cudaStream_t s = stream();
  begin(s);
  CUDA_OK(cudaLaunchHostFunc(s, calls, &seen));
  const cudaGraphExec_t exec = instantiated(end(s));
  const std::vector<cudaError_t> refused(4, cudaErrorNotPermitted);
  for (const bool in_graph : {false, true}) {
    seen.results.clear();
    if (in_graph) {
      CUDA_OK(cudaGraphLaunch(exec, s));
    } else {
      CUDA_OK(cudaLaunchHostFunc(s, calls, &seen));
    }
    CUDA_OK(cudaStreamSynchronize(s));
    EXPECT_EQ(refused, seen.results);
    EXPECT_EQ(cudaErrorNotPermitted, cudaGetLastError());
  }
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(all(0), read(ints_));
  // Nobody can collect them there, and one call outside takes one.
  expect_lints({Lint::unchecked_error, Lint::unchecked_error, Lint::unchecked_error});
}

TEST_F(Launches, Rule24_LaunchesOfOneExecutableFollowEachOtherAcrossStreams) {
  const cudaStream_t s = stream(), other = stream();
  int* const data = ints();
  begin(s);
  CUDA_OK(add(s, data, 1));
  const cudaGraphExec_t exec = instantiated(end(s));
  CUDA_OK(set(s, data, 10));
  CUDA_OK(cudaGraphLaunch(exec, s));
  CUDA_OK(cudaGraphUpload(exec, other));
  CUDA_OK(cudaGraphLaunch(exec, other));
  CUDA_OK(cudaStreamSynchronize(other));  // lazy: runs the first launch, and what that follows
  EXPECT_EQ(all(12), read(data));
  EXPECT_EQ(0u, totals().waiting);
}

TEST_F(Launches, Rule24_ALaunchIsPartOfItsStream) {
  const cudaStream_t s = stream(cudaStreamDefault), other = stream();
  const cudaEvent_t e = event();
  int* const data = ints();
  begin(s);
  CUDA_OK(add(s, data, 1));
  CUDA_OK(add(s, data, 1));
  const cudaGraphExec_t exec = instantiated(end(s));
  CUDA_OK(set(nullptr, data, 10));  // the stream is a blocking one
  CUDA_OK(add(s, data, 100));
  CUDA_OK(cudaGraphLaunch(exec, s));
  CUDA_OK(cudaEventRecord(e, s));
  CUDA_OK(cudaStreamWaitEvent(other, e, 0));
  CUDA_OK(add(other, data, 1000));
  CUDA_OK(cudaStreamSynchronize(other));
  EXPECT_EQ(all(1112), read(data));
  CUDA_OK(cudaGraphLaunch(exec, s));
  CUDA_OK(add(nullptr, data, 1));  // and the legacy one follows it
  CUDA_OK(cudaStreamSynchronize(nullptr));
  EXPECT_EQ(all(1115), read(data));
}

TEST_F(Launches, Rule25_AnExecutableOutlivesItsGraph) {
  const cudaStream_t s = stream();
  int* const data = ints();
  begin(s);
  CUDA_OK(set(s, data, 5));
  CUDA_OK(add(s, data, 1));
  const cudaGraph_t made = end(s);
  const cudaGraphExec_t exec = instantiated(made);
  const cudaGraphNode_t node = nodes_of(made)[0];
  destroy(made);
  CUDA_OK(cudaGraphLaunch(exec, s));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(all(6), read(data));
  std::size_t count = 0;
  cudaGraphNodeType type;
  cudaGraphExec_t second = nullptr;
  expect_refused(cudaErrorInvalidValue, cudaGraphGetNodes(made, nullptr, &count));
  expect_refused(cudaErrorInvalidValue, cudaGraphNodeGetType(node, &type));
  expect_refused(cudaErrorInvalidValue, cudaGraphInstantiate(&second, made, 0));
  expect_refused(cudaErrorInvalidValue, cudaGraphDestroy(made));
}

TEST_F(Launches, Rule25_ALaunchOutlivesItsExecutable) {
  const cudaStream_t s = stream();
  int* const data = ints();
  begin(s);
  CUDA_OK(add(s, data, 1));
  const cudaGraphExec_t exec = instantiated(end(s));
  CUDA_OK(cudaGraphLaunch(exec, s));
  destroy(exec);
  expect_refused(cudaErrorInvalidValue, cudaGraphLaunch(exec, s));
  expect_refused(cudaErrorInvalidValue, cudaGraphExecDestroy(exec));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(all(1), read(data));
}

TEST_F(Launches, LaunchesAreRefusedWhereTheyCannotBe) {
  const cudaStream_t s = stream();
  cudaGraphExec_t exec = instantiated(graph());
  CUDA_OK(cudaGraphLaunch(exec, s));  // an empty one is fine
  CUDA_OK(cudaStreamSynchronize(s));
  expect_refused(cudaErrorInvalidValue, cudaGraphLaunch(nullptr, s));
  expect_refused(cudaErrorInvalidResourceHandle,
                 cudaGraphLaunch(exec, reinterpret_cast<cudaStream_t>(&exec)));
  begin(s);
  expect_broken(cudaErrorNotSupported, cudaGraphLaunch(exec, s), s);
  begin(s);
  expect_broken(cudaErrorStreamCaptureUnsupported, cudaGraphUpload(exec, s), s);
}

TEST_F(Launches, BranchesTakeTheTimeOfTheLongest) {
  const cudaStream_t s = stream();
  const cudaGraph_t made = graph();
  cudaGraphNode_t root, left, right, end_left, join;
  KernelParams params(add_to, ints_, 1);
  CUDA_OK(cudaGraphAddEmptyNode(&root, made, nullptr, 0));
  CUDA_OK(cudaGraphAddKernelNode(&left, made, &root, 1, &params));
  CUDA_OK(cudaGraphAddKernelNode(&end_left, made, &left, 1, &params));
  CUDA_OK(cudaGraphAddEmptyNode(&right, made, &root, 1));
  const cudaGraphNode_t both[] = {end_left, right};
  CUDA_OK(cudaGraphAddEmptyNode(&join, made, both, 2));
  const cudaGraphExec_t exec = instantiated(made);
  const cudaEvent_t before = event(), after = event();
  const Costs costs;
  CUDA_OK(cudaEventRecord(before, s));
  const std::int64_t host = host_now_ns();
  CUDA_OK(cudaGraphLaunch(exec, s));
  const std::int64_t launched = costs.any_call + costs.launch_graph + 5 * costs.launch_per_node;
  EXPECT_EQ(host + launched, host_now_ns());
  CUDA_OK(cudaEventRecord(after, s));
  CUDA_OK(cudaEventSynchronize(after));
  // Root, two kernels, join; beside them the other branch. It begins when the call is made.
  const std::int64_t kernel = costs.kernel + costs.kernel_per_thread_ps * kCount / 1000;
  float ms = 0;
  CUDA_OK(cudaEventElapsedTime(&ms, before, after));
  EXPECT_FLOAT_EQ(static_cast<float>(launched + 4 * costs.node + 2 * kernel) / 1e6f, ms);
}

TEST_F(Launches, AKernelIsWarmOnceAGraphRanIt) {
  const cudaStream_t s = stream();
  const cudaGraph_t made = graph();
  cudaGraphNode_t node;
  REGISTER_KERNEL(first_met_in_node);
  const KernelParams params(first_met_in_node, ints_, 3);
  CUDA_OK(cudaGraphAddKernelNode(&node, made, nullptr, 0, &params));
  CUDA_OK(cudaGraphLaunch(instantiated(made), s));
  begin(s);
  CUDA_OK(cuda::launch(s, 1, kCount, 0, first_met_in_node, ints_, 4));
  end(s);  // and no first_use_in_capture
}

TEST_F(Launches, AFaultInANodeIsTheDevices) {
  const cudaStream_t s = stream();
  begin(s);
  CUDA_OK(add(s, ints_, 1));
  CUDA_OK(add(s, ints_, 1));
  const cudaGraphExec_t exec = instantiated(end(s));
  fault_kernel(cudaErrorLaunchFailure, 2);
  CUDA_OK(cudaGraphLaunch(exec, s));
  EXPECT_EQ(cudaErrorLaunchFailure, cudaStreamSynchronize(s));
  EXPECT_EQ(cudaErrorLaunchFailure, cudaGraphLaunch(exec, s));
  reset();
  forget();
}

}  // namespace
}  // namespace stepscope::cudasim
