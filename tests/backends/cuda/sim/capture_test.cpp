// Captures: how streams join, leave and break them; rules 1 to 9, 12, 13, 19, 20, 23 of
// docs/cuda-simulator.md, one test or more for each.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/graph_support.h"
//
#include <string>
#include <thread>

namespace stepscope::cudasim {
namespace {

class Captures : public GraphTest {};

__global__ void first_met_in_capture(int* data) { data[threadIdx.x] = 1; }

using Edges = std::vector<std::pair<int, int>>;

TEST_F(Captures, Rule01_WorkBecomesNodesWithCopiedParameters) {
  const cudaStream_t s = stream();
  int* const data = ints();
  int value = 5;
  const std::uint64_t ran = totals().kernels;
  begin(s);
  CUDA_OK(set(s, data, value));
  value = 6;  // the node has its copy
  CUDA_OK(cudaMemsetAsync(data, 0, sizeof(int), s));
  const cudaGraph_t made = end(s);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQ(ran, totals().kernels);
  EXPECT_EQ(all(0), read(data));
  EXPECT_EQ((std::vector{cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemset}), types_of(made));
  EXPECT_EQ((Edges{{0, 1}}), edges_of(made));

  CUDA_OK(cudaGraphLaunch(instantiated(made), s));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ((std::vector{0, 5, 5, 5, 5, 5, 5, 5}), read(data));
  EXPECT_EQ(1u, totals().graph_launches);
  EXPECT_EQ(2u, totals().nodes);
}

TEST_F(Captures, Rule01_EveryKindOfWorkIsCaptured) {
  const cudaStream_t s = stream();
  int *const data = ints(), *const other = ints(), *const in = pinned(10), *const out = pinned();
  constexpr std::size_t bytes = sizeof(int) * kCount;
  begin(s);
  CUDA_OK(cudaMemcpyAsync(data, in, bytes, cudaMemcpyHostToDevice, s));
  CUDA_OK(cudaMemcpyAsync(other, data, bytes, cudaMemcpyDeviceToDevice, s));
  CUDA_OK(add(s, other, 1));
  CUDA_OK(cudaLaunchHostFunc(
      s, [](void* at) { *static_cast<int*>(at) += 100; }, in));
  CUDA_OK(cudaMemcpyAsync(out, other, bytes, cudaMemcpyDeviceToHost, s));
  const cudaGraph_t made = end(s);
  EXPECT_EQ((std::vector{cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeKernel,
                         cudaGraphNodeTypeHost, cudaGraphNodeTypeMemcpy}),
            types_of(made));
  const cudaGraphExec_t exec = instantiated(made);
  for (const int expected : {11, 111, 211}) {
    CUDA_OK(cudaGraphLaunch(exec, s));
    CUDA_OK(cudaStreamSynchronize(s));
    EXPECT_EQ(expected, out[0]);  // the pinned source is read at each replay
    EXPECT_EQ(12, out[1]);
  }
}

TEST_F(Captures, Rule02_TheLegacyStreamCannotBegin) {
  for (const cudaStream_t legacy : {cudaStream_t{nullptr}, cudaStreamLegacy}) {
    expect_refused(cudaErrorStreamCaptureUnsupported,
                   cudaStreamBeginCapture(legacy, cudaStreamCaptureModeGlobal));
  }
  begin(cudaStreamPerThread);
  end(cudaStreamPerThread);
}

TEST_F(Captures, Rule03_BeginTwiceAndEndWithoutBegin) {
  const cudaStream_t s = stream();
  expect_end(cudaErrorIllegalState, s);
  begin(s);
  expect_refused(cudaErrorIllegalState, cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  EXPECT_EQ(cudaStreamCaptureStatusActive, status(s));
  end(s);
  expect_end(cudaErrorIllegalState, s);
}

TEST_F(Captures, Rule04_AWaitForTheStreamInvalidates) {
  const cudaStream_t s = stream();
  begin(s);
  expect_broken(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s), s);
  EXPECT_NE(std::string::npos, capture_fault().find("waited for or queried"));
  EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(s));  // free again
}

TEST_F(Captures, Rule05_AQueryOfTheStreamInvalidates) {
  const cudaStream_t s = stream();
  begin(s);
  expect_broken(cudaErrorStreamCaptureUnsupported, cudaStreamQuery(s), s);
}

TEST_F(Captures, Rule06_CapturedEventsAreNoEventsOfTheDevice) {
  const cudaStream_t s = stream();
  const cudaEvent_t e = event(), outside = event();
  CUDA_OK(cudaEventRecord(outside, s));
  float ms = 0;
  const std::vector<std::function<cudaError_t()>> uses = {
      [&] { return cudaEventSynchronize(e); },
      [&] { return cudaEventElapsedTime(&ms, outside, e); },
      [&] { return cudaEventElapsedTime(&ms, e, outside); }, [&] { return cudaEventQuery(e); }};
  for (const auto& use : uses) {
    begin(s, cudaStreamCaptureModeRelaxed);  // a query is unsafe (rule 10) in the others
    CUDA_OK(cudaEventRecord(e, s));
    expect_broken(cudaErrorCapturedEvent, use(), s);
    // It stays an event of that capture until it is recorded anew.
    expect_refused(cudaErrorCapturedEvent, use());
  }
  CUDA_OK(cudaEventRecord(e, s));
  CUDA_OK(cudaEventSynchronize(e));
}

TEST_F(Captures, Rule07_AWaitForTheDeviceInvalidates) {
  const cudaStream_t s = stream(), other = stream();
  begin(s, cudaStreamCaptureModeRelaxed);
  begin(other, cudaStreamCaptureModeThreadLocal);
  expect_refused(cudaErrorStreamCaptureUnsupported, cudaDeviceSynchronize());
  expect_end(cudaErrorStreamCaptureInvalidated, s);
  expect_end(cudaErrorStreamCaptureInvalidated, other);
  CUDA_OK(cudaDeviceSynchronize());
}

TEST_F(Captures, Rule08_TheLegacyStreamIsUnusableWhileABlockingOneCaptures) {
  const cudaStream_t s = stream(cudaStreamDefault);
  int *const data = ints(), *const host = pinned();
  const cudaEvent_t e = event();
  CUDA_OK(cudaEventRecord(e, s));
  const cudaGraphExec_t exec = instantiated(graph());
  const std::vector<std::function<cudaError_t()>> uses = {
      [&] { return set(nullptr, data, 1); },
      [&] { return set(cudaStreamLegacy, data, 1); },
      [&] { return cudaMemcpy(data, host, 4, cudaMemcpyHostToDevice); },
      [&] { return cudaMemset(data, 0, 4); },
      [&] { return cudaMemcpyAsync(data, host, 4, cudaMemcpyHostToDevice, nullptr); },
      [&] { return cudaMemsetAsync(data, 0, 4, nullptr); },
      [&] {
        return cudaLaunchHostFunc(
            nullptr, [](void*) {}, nullptr);
      },
      [&] { return cudaEventRecord(e, nullptr); },
      [&] { return cudaStreamWaitEvent(nullptr, e, 0); },
      [&] { return cudaStreamSynchronize(nullptr); },
      [&] { return cudaStreamQuery(nullptr); },
      [&] { return cudaGraphLaunch(exec, nullptr); },
      [&] { return cudaGraphUpload(exec, nullptr); },
  };
  for (std::size_t i = 0; i < uses.size(); ++i) {
    SCOPED_TRACE(i);
    begin(s);
    expect_broken(cudaErrorStreamCaptureImplicit, uses[i](), s);
  }
  EXPECT_EQ(all(0), read(data));
}

TEST_F(Captures, Rule08_WithANonBlockingStreamLegacyWorkRunsOutsideTheGraph) {
  const cudaStream_t s = stream();
  int* const data = ints();
  begin(s);
  CUDA_OK(set(nullptr, data, 3));
  CUDA_OK(add(s, data, 1));
  const cudaGraph_t made = end(s);
  EXPECT_EQ(1u, nodes_of(made).size());
  EXPECT_EQ(all(3), read(data));
}

TEST_F(Captures, Rule09_AskingAfterTheLegacyStreamIsRefusedAndBreaksNothing) {
  const cudaStream_t s = stream(cudaStreamDefault);
  begin(s);
  cudaStreamCaptureStatus found;
  expect_refused(cudaErrorStreamCaptureImplicit, cudaStreamIsCapturing(nullptr, &found));
  expect_refused(cudaErrorStreamCaptureImplicit, cudaStreamGetCaptureInfo(nullptr, &found));
  EXPECT_EQ(cudaStreamCaptureStatusActive, status(s));
  end(s);
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(nullptr));

  const cudaStream_t other = stream();
  begin(other);
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(nullptr));
  end(other);
}

TEST_F(Captures, Rule12_AfterInvalidationEveryUseFailsUntilEnd) {
  const cudaStream_t s = stream(), forked = stream(), outside = stream();
  const cudaEvent_t e = event(), plain = event();
  CUDA_OK(cudaEventRecord(plain, outside));
  int *const data = ints(), *const host = pinned();
  const cudaGraphExec_t exec = instantiated(graph());
  begin(s);
  CUDA_OK(cudaEventRecord(e, s));
  CUDA_OK(cudaStreamWaitEvent(forked, e, 0));
  expect_refused(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(forked));
  for (const cudaStream_t captured : {s, forked}) {
    EXPECT_EQ(cudaStreamCaptureStatusInvalidated, status(captured));
    const std::vector<std::function<cudaError_t()>> uses = {
        [&] { return set(captured, data, 1); },
        [&] { return cudaMemcpyAsync(data, host, 4, cudaMemcpyHostToDevice, captured); },
        [&] { return cudaMemsetAsync(data, 0, 4, captured); },
        [&] {
          return cudaLaunchHostFunc(
              captured, [](void*) {}, nullptr);
        },
        [&] { return cudaEventRecord(plain, captured); },
        [&] { return cudaStreamWaitEvent(captured, plain, 0); },
        [&] { return cudaStreamWaitEvent(captured, e, 0); },
        [&] { return cudaStreamSynchronize(captured); },
        [&] { return cudaStreamQuery(captured); },
        [&] { return cudaEventSynchronize(e); },
        [&] { return cudaGraphLaunch(exec, captured); },
        [&] { return cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal); }};
    for (std::size_t i = 0; i < uses.size(); ++i) {
      SCOPED_TRACE(i);
      expect_refused(cudaErrorStreamCaptureInvalidated, uses[i]());
    }
  }
  expect_refused(cudaErrorStreamCaptureInvalidated, cudaStreamWaitEvent(outside, e, 0));
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(outside));

  expect_end(cudaErrorStreamCaptureInvalidated, s);
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(forked));
  CUDA_OK(set(forked, data, 4));  // both streams are free again
  CUDA_OK(cudaStreamSynchronize(forked));
  EXPECT_EQ(all(4), read(data));
}

TEST_F(Captures, Rule13_ABatchOfCopiesIsRefusedAndMissing) {
  const cudaStream_t s = stream();
  int *const data = ints(), *const host = pinned(1);
  void* to[] = {data};
  const void* from[] = {host};
  std::size_t bytes[] = {sizeof(int) * kCount}, places[] = {0};
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  begin(s);
  CUDA_OK(set(s, data, 2));
  expect_refused(cudaErrorStreamCaptureUnsupported,
                 cudaMemcpyBatchAsync(to, from, bytes, 1, &attributes, places, 1, s));
  EXPECT_EQ(cudaStreamCaptureStatusActive, status(s));
  EXPECT_EQ((std::vector{cudaGraphNodeTypeKernel}), types_of(end(s)));
}

TEST_F(Captures, Rule19_AnotherThreadMayEndOnlyARelaxedCapture) {
  const cudaStream_t s = stream();
  const auto end_elsewhere = [&] {
    cudaGraph_t made = nullptr;
    cudaError_t result = cudaSuccess;
    std::thread([&] {
      result = cudaStreamEndCapture(s, &made);
      cudaGetLastError();
    }).join();
    if (made != nullptr) {
      EXPECT_EQ(cudaSuccess, cudaGraphDestroy(made));
    }
    return result;
  };
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
    begin(s, mode);
    EXPECT_EQ(cudaErrorStreamCaptureWrongThread, end_elsewhere());
    EXPECT_EQ(cudaStreamCaptureStatusActive, status(s));
    end(s);
  }
  begin(s, cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(cudaSuccess, end_elsewhere());
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(s));
}

TEST_F(Captures, Rule20_CallbacksCannotBeCapturedHostFunctionsCan) {
  const cudaStream_t s = stream();
  int runs = 0;
  begin(s);
  expect_broken(cudaErrorStreamCaptureUnsupported,
                cudaStreamAddCallback(
                    s, [](cudaStream_t, cudaError_t, void*) {}, nullptr, 0),
                s);
  begin(s);
  CUDA_OK(cudaLaunchHostFunc(
      s, [](void* count) { ++*static_cast<int*>(count); }, &runs));
  const cudaGraph_t made = end(s);
  EXPECT_EQ((std::vector{cudaGraphNodeTypeHost}), types_of(made));
  EXPECT_EQ(0, runs);
  CUDA_OK(cudaGraphLaunch(instantiated(made), s));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_EQ(1, runs);
}

TEST_F(Captures, WhateverTheStreamRefusesInvalidates) {
  const cudaStream_t s = stream();
  const cudaEvent_t e = event();
  const cudaGraphExec_t exec = instantiated(graph());
  void* made = nullptr;
  const std::vector<std::function<cudaError_t()>> uses = {
      [&] { return cuda::launch(s, 1, 2000, 0, set_to, ints_, 1); },
      [&] { return cudaMemcpyAsync(ints_, nullptr, 4, cudaMemcpyDefault, s); },
      [&] { return cudaMemsetAsync(ints_, 0, 1 << 20, s); },
      [&] { return cudaLaunchHostFunc(s, nullptr, nullptr); },
      [&] { return cudaMallocAsync(&made, std::size_t{1} << 40, s); },
      [&] { return cudaFreeAsync(ints_, s); },
      [&] { return cudaEventRecord(nullptr, s); },
      [&] { return cudaStreamWaitEvent(s, e, 77); },
      [&] { return cudaGraphUpload(exec, s); },
      [&] { return cudaGraphLaunch(exec, s); },
      [&] { return cudaGraphLaunch(nullptr, s); }};
  for (std::size_t i = 0; i < uses.size(); ++i) {
    SCOPED_TRACE(i);
    begin(s);
    const cudaError_t refused = uses[i]();
    EXPECT_NE(cudaSuccess, refused);
    expect_broken(refused, refused, s);
  }
}

TEST_F(Captures, Rule23_AfterACaptureAStreamGoesOnWhereItWas) {
  const cudaStream_t s = stream(), other = stream();
  const cudaEvent_t e = event();
  int* const data = ints();
  CUDA_OK(set(s, data, 7));
  begin(s);
  CUDA_OK(set(s, data, 100));
  end(s);
  CUDA_OK(add(s, data, 1));  // follows the 7
  CUDA_OK(cudaEventRecord(e, s));
  CUDA_OK(cudaStreamWaitEvent(other, e, 0));
  CUDA_OK(add(other, data, 1));
  CUDA_OK(cudaStreamSynchronize(other));  // lazy: runs what that follows, and nothing else
  EXPECT_EQ(all(9), read(data));
}

TEST_F(Captures, InfoTellsGraphAndWhereTheNextNodeGoes) {
  const cudaStream_t s = stream();
  cudaStreamCaptureStatus found;
  unsigned long long id = 0, next_id = 0;
  cudaGraph_t into = nullptr;
  const cudaGraphNode_t* at = nullptr;
  const cudaGraphEdgeData* data = nullptr;
  std::size_t count = 9;
  CUDA_OK(cudaStreamGetCaptureInfo(s, &found, &id, &into, &at, &data, &count));
  EXPECT_EQ(cudaStreamCaptureStatusNone, found);
  EXPECT_EQ(9u, count);
  begin(s);
  CUDA_OK(cudaStreamGetCaptureInfo(s, &found, &id, &into, &at, &data, &count));
  EXPECT_EQ(0u, count);
  CUDA_OK(set(s, ints_, 1));
  CUDA_OK(cudaStreamGetCaptureInfo(s, &found, nullptr, nullptr, &at, &data, &count));
  ASSERT_EQ(1u, count);
  EXPECT_EQ(nodes_of(into)[0], at[0]);
  EXPECT_EQ(0, data[0].type);
  // A node that was added by hand stands there for all to wait for.
  cudaGraphNode_t by_hand = nullptr;
  CUDA_OK(cudaGraphAddEmptyNode(&by_hand, into, at, count));
  EXPECT_EQ(into, end(s));
  begin(s);
  CUDA_OK(cudaStreamGetCaptureInfo(s, &found, &next_id));
  EXPECT_LT(id, next_id);
  end(s);
  expect_refused(cudaErrorInvalidValue, cudaStreamGetCaptureInfo(s, nullptr));
  expect_refused(cudaErrorInvalidValue,
                 cudaStreamGetCaptureInfo(s, &found, nullptr, nullptr, nullptr, &data));
}

TEST_F(Captures, BadArgumentsAreRefused) {
  const cudaStream_t s = stream();
  const auto no_mode = static_cast<cudaStreamCaptureMode>(3);  // the one value that fits the enum
  cudaGraph_t made = nullptr;
  cudaStreamCaptureMode mode = no_mode;
  cudaStreamCaptureStatus found;
  const auto nobody = reinterpret_cast<cudaStream_t>(&made);
  expect_refused(cudaErrorInvalidValue, cudaStreamBeginCapture(s, no_mode));
  expect_refused(cudaErrorInvalidValue, cudaStreamEndCapture(s, nullptr));
  expect_refused(cudaErrorInvalidValue, cudaStreamIsCapturing(s, nullptr));
  expect_refused(cudaErrorInvalidValue, cudaThreadExchangeStreamCaptureMode(nullptr));
  expect_refused(cudaErrorInvalidValue, cudaThreadExchangeStreamCaptureMode(&mode));
  expect_refused(cudaErrorInvalidResourceHandle,
                 cudaStreamBeginCapture(nobody, cudaStreamCaptureModeGlobal));
  expect_refused(cudaErrorInvalidResourceHandle, cudaStreamEndCapture(nobody, &made));
  expect_refused(cudaErrorInvalidResourceHandle, cudaStreamIsCapturing(nobody, &found));
  expect_refused(cudaErrorInvalidResourceHandle, cudaStreamGetCaptureInfo(nobody, &found));
}

TEST_F(Captures, AFirstUseInsideIsALint) {
  const cudaStream_t s = stream();
  begin(s);
  CUDA_OK(cuda::launch(s, 1, kCount, 0, first_met_in_capture, ints_));
  end(s);
  expect_lints({Lint::first_use_in_capture});
}

TEST_F(Captures, AStreamDestroyedInsideBreaksIt) {
  const cudaStream_t s = stream();
  const cudaEvent_t e = event();
  cudaStream_t forked = nullptr, origin = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&forked, cudaStreamNonBlocking));
  begin(s);
  CUDA_OK(cudaEventRecord(e, s));
  CUDA_OK(cudaStreamWaitEvent(forked, e, 0));
  CUDA_OK(cudaStreamDestroy(forked));
  EXPECT_EQ(cudaStreamCaptureStatusInvalidated, status(s));
  expect_end(cudaErrorStreamCaptureInvalidated, s);

  CUDA_OK(cudaStreamCreateWithFlags(&origin, cudaStreamNonBlocking));
  begin(origin);
  CUDA_OK(cudaEventRecord(e, origin));
  CUDA_OK(cudaStreamWaitEvent(s, e, 0));
  CUDA_OK(cudaStreamDestroy(origin));
  EXPECT_EQ(cudaStreamCaptureStatusNone, status(s));
  CUDA_OK(cudaDeviceSynchronize());  // nothing captures any more
}

}  // namespace
}  // namespace stepscope::cudasim
