// Memory that graphs allocate: rule 22 of docs/cuda-simulator.md.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/graph_support.h"
//

namespace stepscope::cudasim {
namespace {

class GraphMemories : public GraphTest {
 protected:
  void SetUp() override {
    GraphTest::SetUp();
    stream_ = stream();
    out_ = ints();
  }
  // A graph that allocates, computes 42 in what it has and copies it out; and frees it, if asked.
  cudaGraph_t captured(bool frees) {
    begin(stream_);
    EXPECT_EQ(cudaSuccess, cudaMallocAsync(&memory_, kBytes, stream_));
    EXPECT_EQ(cudaSuccess, set(stream_, ints_of_graph(), 40));
    EXPECT_EQ(cudaSuccess, add(stream_, ints_of_graph(), 2));
    EXPECT_EQ(cudaSuccess,
              cudaMemcpyAsync(out_, memory_, kBytes, cudaMemcpyDeviceToDevice, stream_));
    if (frees) {
      EXPECT_EQ(cudaSuccess, cudaFreeAsync(memory_, stream_));
    }
    return end(stream_);
  }
  int* ints_of_graph() const { return static_cast<int*>(memory_); }
  void launch_and_wait(cudaGraphExec_t exec) {
    CUDA_OK(cudaGraphLaunch(exec, stream_));
    CUDA_OK(cudaStreamSynchronize(stream_));
  }

  cudaStream_t stream_ = nullptr;
  int* out_ = nullptr;
  void* memory_ = nullptr;
};

TEST_F(GraphMemories, Rule22_AllocationsAndFreesBecomeNodes) {
  const std::size_t before = totals().device_bytes;
  const cudaGraph_t made = captured(true);
  EXPECT_EQ(
      (std::vector{cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeKernel, cudaGraphNodeTypeKernel,
                   cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemFree}),
      types_of(made));
  const cudaGraphExec_t exec = instantiated(made);
  for (int i = 0; i < 3; ++i) {
    zero(out_);
    launch_and_wait(exec);
    EXPECT_EQ(all(42), read(out_));
  }
  destroy(exec);
  destroy(made);
  EXPECT_EQ(before, totals().device_bytes);
}

TEST_F(GraphMemories, Rule22_AFreeInACaptureNamesAGraphsAllocation) {
  void* plain = nullptr;
  CUDA_OK(cudaMallocAsync(&plain, kBytes, stream_));
  for (void* data : {plain, static_cast<void*>(out_)}) {
    begin(stream_);
    expect_broken(cudaErrorInvalidValue, cudaFreeAsync(data, stream_), stream_);
  }
  CUDA_OK(cudaFreeAsync(plain, stream_));
  CUDA_OK(cudaStreamSynchronize(stream_));
}

TEST_F(GraphMemories, Rule22_FreedOnceAndByOneGraph) {
  const cudaGraph_t made = captured(true);
  begin(stream_);
  expect_broken(cudaErrorInvalidValue, cudaFreeAsync(memory_, stream_), stream_);
  const cudaGraphExec_t exec = instantiated(made);
  launch_and_wait(exec);
  // Nor outside: no launch has left it.
  expect_refused(cudaErrorInvalidValue, cudaFreeAsync(memory_, stream_));
  expect_refused(cudaErrorInvalidValue, cudaFree(memory_));
}

TEST_F(GraphMemories, Rule22_OneExecutableAtATime) {
  const cudaGraph_t made = captured(true);
  const cudaGraphExec_t exec = instantiated(made);
  cudaGraphExec_t second = nullptr;
  expect_refused(cudaErrorInvalidValue, cudaGraphInstantiate(&second, made, 0));
  destroy(exec);
  launch_and_wait(instantiated(made));
  EXPECT_EQ(all(42), read(out_));
}

TEST_F(GraphMemories, Rule22_ARelaunchOverUnfreedMemoryIsRefused) {
  const cudaGraphExec_t exec = instantiated(captured(false));
  launch_and_wait(exec);
  EXPECT_EQ(all(42), read(static_cast<int*>(memory_)));  // usable by what follows
  expect_refused(cudaErrorInvalidValue, cudaGraphLaunch(exec, stream_));
  CUDA_OK(cudaFreeAsync(memory_, stream_));
  launch_and_wait(exec);
  CUDA_OK(cudaFree(memory_));
  expect_refused(cudaErrorInvalidValue, cudaFree(memory_));
  launch_and_wait(exec);
  CUDA_OK(cudaFreeAsync(memory_, stream_));
}

TEST_F(GraphMemories, Rule22_OrFreedByTheLaunchItself) {
  const cudaGraph_t made = captured(false);
  const cudaGraphExec_t exec = instantiated(made, cudaGraphInstantiateFlagAutoFreeOnLaunch);
  for (int i = 0; i < 3; ++i) {
    zero(out_);
    launch_and_wait(exec);
    EXPECT_EQ(all(42), read(out_));
  }
  CUDA_OK(cudaFreeAsync(memory_, stream_));
}

TEST_F(GraphMemories, Rule22_OrByAnotherGraph) {
  const cudaGraphExec_t exec = instantiated(captured(false));
  begin(stream_);
  CUDA_OK(cudaFreeAsync(memory_, stream_));
  const cudaGraphExec_t freeing = instantiated(end(stream_));
  expect_refused(cudaErrorInvalidValue, cudaGraphLaunch(freeing, stream_));  // nothing to free
  for (int i = 0; i < 2; ++i) {
    CUDA_OK(cudaGraphLaunch(exec, stream_));
    CUDA_OK(cudaGraphLaunch(freeing, stream_));
  }
  CUDA_OK(cudaStreamSynchronize(stream_));
  EXPECT_EQ(all(42), read(out_));
}

TEST_F(GraphMemories, WhatALaunchLeftOutlivesItsGraph) {
  const std::size_t before = totals().device_bytes;
  const cudaGraph_t made = captured(false);
  const cudaGraphExec_t exec = instantiated(made);
  CUDA_OK(cudaGraphLaunch(exec, stream_));
  destroy(made);
  destroy(exec);
  CUDA_OK(cudaStreamSynchronize(stream_));
  EXPECT_EQ(all(42), read(static_cast<int*>(memory_)));
  CUDA_OK(cudaFreeAsync(memory_, stream_));
  CUDA_OK(cudaStreamSynchronize(stream_));
  EXPECT_EQ(before, totals().device_bytes);
}

TEST_F(GraphMemories, DestructionWaitsForNothing) {
  const std::size_t before = totals().device_bytes;
  const cudaGraph_t made = captured(true);
  const cudaGraphExec_t exec = instantiated(made);
  for (int i = 0; i < 2; ++i) CUDA_OK(cudaGraphLaunch(exec, stream_));
  const std::size_t waiting = totals().waiting;
  destroy(exec);
  destroy(made);
  EXPECT_LE(waiting, totals().waiting);
  CUDA_OK(cudaDeviceSynchronize());  // the launches under way had their memory
  EXPECT_EQ(all(42), read(out_));
  EXPECT_EQ(before, totals().device_bytes);
}

TEST_F(GraphMemories, AFreeWaitsForNothingEither) {
  const cudaGraphExec_t exec = instantiated(captured(false));
  CUDA_OK(cudaGraphLaunch(exec, stream_));
  CUDA_OK(cudaFree(memory_));
  EXPECT_EQ(cudaErrorIllegalAddress, cudaStreamSynchronize(stream_));
  EXPECT_NE(std::string::npos, device_fault().find("was waiting")) << device_fault();
  reset();
  forget();
}

TEST_F(GraphMemories, ARefusedFreeFreesNothing) {
  const cudaStream_t blocking = stream(cudaStreamDefault);
  const cudaGraphExec_t exec = instantiated(captured(false));
  launch_and_wait(exec);
  begin(blocking, cudaStreamCaptureModeRelaxed);
  expect_broken(cudaErrorStreamCaptureImplicit, cudaFreeAsync(memory_, nullptr), blocking);
  CUDA_OK(cudaFreeAsync(memory_, stream_));
}

TEST_F(GraphMemories, ALeftoverIsALint) {
  const cudaGraph_t made = captured(false);
  const cudaGraphExec_t exec = instantiated(made);
  launch_and_wait(exec);
  destroy(made);
  destroy(exec);
  expect_lints({Lint::leak});
}

TEST_F(GraphMemories, AnAbandonedCaptureGivesItsMemoryBack) {
  const std::size_t before = totals().device_bytes;
  begin(stream_);
  CUDA_OK(cudaMallocAsync(&memory_, kBytes, stream_));
  expect_broken(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream_), stream_);
  EXPECT_EQ(before, totals().device_bytes);
}

TEST_F(GraphMemories, NodesOfMemoryAreNotUpdated) {
  const cudaGraphExec_t exec = instantiated(captured(true));
  const cudaGraph_t twin = captured(true);
  cudaGraphExecUpdateResultInfo info;
  expect_refused(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(exec, twin, &info));
  EXPECT_EQ(cudaGraphExecUpdateErrorNotSupported, info.result);
  EXPECT_EQ(nodes_of(twin)[0], info.errorNode);
}

// Outside its nodes the memory is not there: a fault, not stale values.
TEST_F(GraphMemories, AUseAfterTheFreeNodeFaults) {
  const cudaGraphExec_t exec = instantiated(captured(true));
  launch_and_wait(exec);
  CUDA_OK(add(stream_, ints_of_graph(), 1));
  EXPECT_EQ(cudaErrorIllegalAddress, cudaStreamSynchronize(stream_));
  reset();
  forget();
}

}  // namespace
}  // namespace stepscope::cudasim
