// What captures forbid to other calls, by mode and thread: rules 10 and 11 of
// docs/cuda-simulator.md.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/sim/graph_support.h"
//
#include <cublasLt.h>
#include <cudnn.h>

#include <string>
#include <thread>

namespace stepscope::cudasim {
namespace {

constexpr cudaStreamCaptureMode kModes[] = {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed};

struct Unsafe {
  const char* name;
  std::function<cudaError_t()> make;
};

class CaptureModes : public GraphTest {
 protected:
  // Each of the potentially unsafe calls, with arguments for which it would succeed.
  std::vector<Unsafe> unsafe_calls() {
    int *const data = ints(), *const host = pinned();
    const cudaEvent_t e = event();
    EXPECT_EQ(cudaSuccess, cudaMalloc(&block_, 16));
    EXPECT_EQ(cudaSuccess, cudaMallocHost(&host_block_, 16));
    return {
        {"cudaMalloc", [this] { return cudaMalloc(&made_, 16); }},
        {"cudaFree", [this] { return cudaFree(block_); }},
        {"cudaMallocHost", [this] { return cudaMallocHost(&host_made_, 16); }},
        {"cudaFreeHost", [this] { return cudaFreeHost(host_block_); }},
        {"cudaHostRegister", [this] { return cudaHostRegister(own_, sizeof own_, 0); }},
        {"cudaHostUnregister", [this] { return cudaHostUnregister(own_); }},
        {"cudaEventQuery", [e] { return cudaEventQuery(e); }},
        {"cudaMemcpy", [=] { return cudaMemcpy(data, host, 4, cudaMemcpyHostToDevice); }},
        {"cudaMemset", [=] { return cudaMemset(data, 0, 4); }},
    };
  }
  void free_what_they_made() {
    EXPECT_EQ(cudaSuccess, cudaFree(made_));
    EXPECT_EQ(cudaSuccess, cudaFreeHost(host_made_));
    made_ = host_made_ = nullptr;
  }

  // In another thread, which first takes a mode of its own.
  static cudaError_t elsewhere(cudaStreamCaptureMode mode,
                               const std::function<cudaError_t()>& make) {
    cudaError_t result = cudaSuccess;
    std::thread([&] {
      EXPECT_EQ(cudaSuccess, cudaThreadExchangeStreamCaptureMode(&mode));
      result = make();
      EXPECT_EQ(result, cudaGetLastError());
    }).join();
    return result;
  }

  void *block_ = nullptr, *host_block_ = nullptr, *made_ = nullptr, *host_made_ = nullptr;
  char own_[64] = {};
};

TEST_F(CaptureModes, Rule10_UnsafeCallsInvalidate) {
  const cudaStream_t s = stream();
  for (const Unsafe& unsafe : unsafe_calls()) {
    SCOPED_TRACE(unsafe.name);
    for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
      begin(s, mode);
      expect_broken(cudaErrorStreamCaptureUnsupported, unsafe.make(), s);
      EXPECT_NE(std::string::npos, capture_fault().find(unsafe.name)) << capture_fault();
    }
  }
  EXPECT_EQ(nullptr, made_);  // they did nothing
  CUDA_OK(cudaFree(block_));
  CUDA_OK(cudaFreeHost(host_block_));
}

TEST_F(CaptureModes, Rule10_SoDoesMakingALibrarysHandle) {
  const cudaStream_t s = stream();
  cublasLtHandle_t lt = nullptr;
  cudnnHandle_t dnn = nullptr;
  begin(s);
  EXPECT_NE(CUBLAS_STATUS_SUCCESS, cublasLtCreate(&lt));
  expect_end(cudaErrorStreamCaptureInvalidated, s);
  begin(s);
  EXPECT_NE(CUDNN_STATUS_SUCCESS, cudnnCreate(&dnn));
  expect_end(cudaErrorStreamCaptureInvalidated, s);
}

TEST_F(CaptureModes, Rule10_RelaxedThreadsAndCapturesAllowThem) {
  const cudaStream_t s = stream();
  for (const Unsafe& unsafe : unsafe_calls()) {
    SCOPED_TRACE(unsafe.name);
    begin(s, cudaStreamCaptureModeRelaxed);
    EXPECT_EQ(cudaSuccess, unsafe.make());
    end(s);
  }
  free_what_they_made();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(cudaStreamCaptureModeGlobal, mode);
  for (const Unsafe& unsafe : unsafe_calls()) {
    SCOPED_TRACE(unsafe.name);
    begin(s, cudaStreamCaptureModeGlobal);
    EXPECT_EQ(cudaSuccess, unsafe.make());
    end(s);
  }
  free_what_they_made();
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(cudaStreamCaptureModeRelaxed, mode);
}

// Who may call cudaMalloc while a thread captures: the header's text on
// cudaThreadExchangeStreamCaptureMode, as a table.
TEST_F(CaptureModes, Rule11_ModesOfCapturesAndThreads) {
  const cudaStream_t s = stream();
  const auto allocate = [] {
    void* made = nullptr;
    const cudaError_t result = cudaMalloc(&made, 16);
    if (result != cudaSuccess) return result;
    return cudaFree(made);
  };
  for (const auto captured : kModes) {
    for (const auto own : kModes) {
      SCOPED_TRACE(testing::Message() << "capture " << captured << ", thread " << own);
      const bool relaxed =
          captured == cudaStreamCaptureModeRelaxed || own == cudaStreamCaptureModeRelaxed;
      const bool both_global =
          captured == cudaStreamCaptureModeGlobal && own == cudaStreamCaptureModeGlobal;

      cudaStreamCaptureMode mode = own;
      CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
      begin(s, captured);
      if (relaxed) {
        EXPECT_EQ(cudaSuccess, allocate());
        end(s);
      } else {
        expect_broken(cudaErrorStreamCaptureUnsupported, allocate(), s);
      }
      CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));

      begin(s, captured);
      if (both_global) {
        EXPECT_EQ(cudaErrorStreamCaptureUnsupported, elsewhere(own, allocate));
        expect_end(cudaErrorStreamCaptureInvalidated, s);
      } else {
        EXPECT_EQ(cudaSuccess, elsewhere(own, allocate));
        end(s);
      }
    }
  }
}

TEST_F(CaptureModes, Rule11_AModeIsItsThreads) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  std::thread([] {
    cudaStreamCaptureMode other = cudaStreamCaptureModeThreadLocal;
    EXPECT_EQ(cudaSuccess, cudaThreadExchangeStreamCaptureMode(&other));
    EXPECT_EQ(cudaStreamCaptureModeGlobal, other);
  }).join();
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(cudaStreamCaptureModeRelaxed, mode);
}

TEST_F(CaptureModes, AResetMakesEveryThreadGlobalAgain) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  reset();
  forget();
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(cudaStreamCaptureModeGlobal, mode);
}

}  // namespace
}  // namespace stepscope::cudasim
