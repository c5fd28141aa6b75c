// Lints: each is tripped, and what is right trips none.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/runtime_support.h"
//
#include <thread>

#include "tests/backends/cuda/sim/fault_rows.h"

namespace stepscope::cudasim {
namespace {

class Lints : public RuntimeTest {
 protected:
  static testing::AssertionResult says(const std::string& part) {
    const std::string texts = found();
    if (texts.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no \"" << part << "\" in:\n" << texts;
  }
  // A graph of one kernel that writes data[0].
  static void capture(cudaStream_t s, float* data, cudaGraph_t& graph, cudaGraphExec_t& exec) {
    CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    CUDA_OK(set(s, data, 1));
    CUDA_OK(cudaStreamEndCapture(s, &graph));
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  }
};

TEST_F(Lints, NoneWhereAllIsRight) {
  const cudaStream_t s = stream();
  float *const data = device(), *const host = pinned();
  CUDA_OK(set(s, data, 1));
  CUDA_OK(cudaMemcpyAsync(host, data, kBytes, cudaMemcpyDeviceToHost, s));
  CUDA_OK(cudaStreamSynchronize(s));
  EXPECT_TRUE(lints().empty());
}

TEST_F(Lints, PageableAsyncNamesSizeAndSide) {
  const cudaStream_t s = stream();
  float pageable[kCount] = {};
  float* const data = device();
  CUDA_OK(cudaMemcpyAsync(data, pageable, kBytes, cudaMemcpyHostToDevice, s));
  CUDA_OK(cudaMemcpyAsync(data, pageable, kBytes, cudaMemcpyHostToDevice, s));  // said once
  CUDA_OK(cudaMemcpyAsync(pageable, data, 4, cudaMemcpyDeviceToHost, s));
  CUDA_OK(cudaStreamSynchronize(s));
  CUDA_OK(cudaMemcpy(pageable, data, kBytes, cudaMemcpyDeviceToHost));  // no lint
  EXPECT_TRUE(says("an asynchronous copy of 32 bytes from pageable host memory 0x"));
  EXPECT_TRUE(says("an asynchronous copy of 4 bytes to pageable host memory 0x"));
  expect_lints({Lint::pageable_async, Lint::pageable_async});
}

TEST_F(Lints, RegisteredMemoryIsNotPageable) {
  std::vector<float> host(kCount);
  CUDA_OK(cudaHostRegister(host.data(), kBytes, 0));
  CUDA_OK(cudaMemcpyAsync(device(), host.data(), kBytes, cudaMemcpyHostToDevice, nullptr));
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaHostUnregister(host.data()));
}

TEST_F(Lints, PageableCaptured) {
  const cudaStream_t s = stream();
  float pageable[kCount] = {};
  cudaGraph_t graph = nullptr;
  CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  CUDA_OK(cudaMemcpyAsync(device(), pageable, kBytes, cudaMemcpyHostToDevice, s));
  CUDA_OK(cudaStreamEndCapture(s, &graph));
  CUDA_OK(cudaGraphDestroy(graph));
  EXPECT_TRUE(says("its address is baked into the graph"));
  expect_lints({Lint::pageable_captured});
}

TEST_F(Lints, UncheckedErrors) {
  (void)cudaMalloc(nullptr, 8);
  (void)cudaPeekAtLastError();  // looks, and collects nothing
  EXPECT_TRUE(lints().empty());
  EXPECT_TRUE(
      says("cudaMalloc returned 1 (cudaErrorInvalidValue), and cudaGetLastError never "
           "collected it"));
  expect_lints({Lint::unchecked_error});
}

TEST_F(Lints, EachErrorIsCollectedByItself) {
  (void)cudaMalloc(nullptr, 8);
  (void)cudaSetDevice(9);
  EXPECT_EQ(cudaErrorInvalidDevice, cudaGetLastError());
  EXPECT_EQ(cudaSuccess, cudaGetLastError());  // collects nothing
  EXPECT_TRUE(says("cudaMalloc returned 1"));
  expect_lints({Lint::unchecked_error});
}

TEST_F(Lints, OneThreadCollectsNotAnothers) {
  std::thread other([] { (void)cudaSetDevice(9); });
  other.join();
  EXPECT_EQ(cudaErrorInvalidValue, cudaMalloc(nullptr, 8));
  EXPECT_EQ(cudaErrorInvalidValue, cudaGetLastError());
  EXPECT_TRUE(says("cudaSetDevice returned 101"));
  expect_lints({Lint::unchecked_error});
}

TEST_F(Lints, NotReadyAndTheDevicesFaultNeedNoCollecting) {
  const cudaStream_t s = stream();
  CUDA_OK(set(s, device(), 1));
  EXPECT_EQ(cudaErrorNotReady, cudaStreamQuery(s));
  fault_kernel(cudaErrorAssert);
  EXPECT_EQ(cudaErrorAssert, cudaStreamSynchronize(s));
  EXPECT_EQ(cudaErrorAssert, cudaFree(nullptr));
}

__global__ void never_run_before(float* data) { data[0] = 1; }

TEST_F(Lints, FirstUseInACapture) {
  const cudaStream_t s = stream();
  float* const data = device();
  for (const bool warm : {false, true}) {
    if (warm) {
      CUDA_OK(cuda::launch(s, 1, 1, 0, never_run_before, data));
    }
    cudaGraph_t graph = nullptr;
    CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CUDA_OK(cuda::launch(s, 1, 1, 0, never_run_before, data));
    CUDA_OK(cudaStreamEndCapture(s, &graph));
    CUDA_OK(cudaGraphDestroy(graph));
    EXPECT_EQ(1u, lints().size());  // of the first time alone
  }
  expect_lints({Lint::first_use_in_capture});
}

TEST_F(Lints, ResetForgetsWhatWasWarm) {
  CUDA_OK(set(nullptr, device(), 1));
  reset();
  forget();
  const cudaStream_t s = stream();
  cudaGraph_t graph = nullptr;
  CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
  CUDA_OK(set(s, device(), 1));
  CUDA_OK(cudaStreamEndCapture(s, &graph));
  CUDA_OK(cudaGraphDestroy(graph));
  expect_lints({Lint::first_use_in_capture});
}

TEST_F(Lints, LeaksOfEveryKind) {
  {
    FaultScene scene;
    CUDA_OK(cudaHostRegister(scene.pageable.data(), kSceneBytes, 0));
  }
  for (const char* const what :
       {"left behind: stream 1", "left behind: event 1", "left behind: event 2",
        "left behind: graph", "left behind: executable graph", "left behind: cuBLASLt: 1 handle",
        "left behind: cuBLASLt: 1 matmul descriptor", "left behind: cuBLASLt: 1 matrix layout",
        "left behind: cuBLASLt: 1 matmul preference", "left behind: cuDNN: 1 handle",
        "left behind: cuDNN: 1 tensor descriptor", "left behind: pinned memory",
        "left behind: device memory", "left behind: registered host memory"}) {
    EXPECT_TRUE(says(what));
  }
  // Two events, three blocks of device memory, and one of everything else.
  EXPECT_EQ(16u, finish().size());
  for (const LintFound& lint : finish()) EXPECT_EQ(Lint::leak, lint.lint);
  reset();
}

TEST_F(Lints, ADeviceThatFaultedLeavesNothing) {
  FaultScene scene;
  fault_kernel(cudaErrorAssert);
  CUDA_OK(set(nullptr, scene.device, 1));
  EXPECT_EQ(cudaErrorAssert, cudaDeviceSynchronize());
  EXPECT_TRUE(finish().empty());
}

TEST_F(Lints, MemoryFreedBeforeTheExecutable) {
  const cudaStream_t s = stream();
  void *data = nullptr, *host = nullptr;
  cudaGraph_t graphs[2] = {};
  cudaGraphExec_t execs[2] = {};
  CUDA_OK(cudaMalloc(&data, kBytes));
  CUDA_OK(cudaMallocHost(&host, kBytes));
  CUDA_OK(set(s, static_cast<float*>(data), 0));
  capture(s, static_cast<float*>(data), graphs[0], execs[0]);
  capture(s, static_cast<float*>(host), graphs[1], execs[1]);
  CUDA_OK(cudaFree(data));
  CUDA_OK(cudaFreeHost(host));
  EXPECT_TRUE(says("of 32 bytes, byte 0) was freed while an executable graph holds its address"));
  for (int i = 0; i < 2; ++i) {
    CUDA_OK(cudaGraphExecDestroy(execs[i]));
    CUDA_OK(cudaGraphDestroy(graphs[i]));
  }
  expect_lints({Lint::freed_before_exec, Lint::freed_before_exec});
}

TEST_F(Lints, MemoryWhoseFreeBeganBeforeTheExecutableWent) {
  const cudaStream_t s = stream();
  void* data = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CUDA_OK(cudaMallocAsync(&data, kBytes, s));
  CUDA_OK(set(s, static_cast<float*>(data), 0));
  capture(s, static_cast<float*>(data), graph, exec);
  CUDA_OK(cudaFreeAsync(data, s));
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaStreamSynchronize(s));
  expect_lints({Lint::freed_before_exec});
}

TEST_F(Lints, MemoryFreedAfterTheExecutableIsFine) {
  const cudaStream_t s = stream();
  void* data = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CUDA_OK(cudaMalloc(&data, kBytes));
  CUDA_OK(set(s, static_cast<float*>(data), 0));
  capture(s, static_cast<float*>(data), graph, exec);
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaFree(data));
  CUDA_OK(cudaGraphDestroy(graph));
}

TEST_F(Lints, HaveNames) {
  EXPECT_EQ("pageable_async", name_of(Lint::pageable_async));
  EXPECT_EQ("pageable_captured", name_of(Lint::pageable_captured));
  EXPECT_EQ("unchecked_error", name_of(Lint::unchecked_error));
  EXPECT_EQ("first_use_in_capture", name_of(Lint::first_use_in_capture));
  EXPECT_EQ("leak", name_of(Lint::leak));
  EXPECT_EQ("freed_before_exec", name_of(Lint::freed_before_exec));
}

}  // namespace
}  // namespace stepscope::cudasim
