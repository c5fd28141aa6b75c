// The simulated libraries as seen from outside: driver and capture, faults of the device, leaks,
// and what cuDNN and CUPTI answer.
// SPDX-License-Identifier: Apache-2.0
#include <cudnn.h>
#include <cupti.h>

#include <array>
#include <cmath>
#include <functional>
#include <string>

#include "tests/backends/cuda/sim/cublaslt_run.h"
#include "tests/backends/cuda/sim/fixture.h"

namespace stepscope::cudasim {
namespace {

class Libraries : public SimTest {};

std::string last_cudnn_error() {
  std::array<char, 256> text{};
  cudnnGetLastErrorString(text.data(), text.size());
  return text.data();
}
void on_buffer(std::uint8_t**, std::size_t*, std::size_t*) {}
void on_complete(CUcontext, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) {}
void on_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

TEST_F(Libraries, WithoutADriver) {
  for (const Driver driver : {Driver::none, Driver::old, Driver::stub, Driver::no_device}) {
    settings_.driver = driver;
    reset(settings_);
    cublasLtHandle_t handle = nullptr;
    EXPECT_EQ(CUBLAS_STATUS_NOT_INITIALIZED, cublasLtCreate(&handle));
    EXPECT_EQ(nullptr, handle);
    cublasLtMatmulDesc_t operation = nullptr;
    EXPECT_EQ(CUBLAS_STATUS_SUCCESS,
              cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    EXPECT_EQ(CUBLAS_STATUS_SUCCESS, cublasLtMatmulDescDestroy(operation));
    cudnnHandle_t cudnn = nullptr;
    EXPECT_EQ(CUDNN_STATUS_NOT_INITIALIZED, cudnnCreate(&cudnn));
    EXPECT_EQ(nullptr, cudnn);
    EXPECT_EQ("cudaGetDeviceCount(&count) != cudaSuccess", last_cudnn_error());
    EXPECT_EQ("", last_cudnn_error());  // told once
    cudnnTensorDescriptor_t tensor = nullptr;
    EXPECT_EQ(CUDNN_STATUS_SUCCESS, cudnnCreateTensorDescriptor(&tensor));
    EXPECT_EQ(CUDNN_STATUS_SUCCESS, cudnnDestroyTensorDescriptor(tensor));
    std::uint32_t version = 0;
    EXPECT_EQ(CUPTI_SUCCESS, cuptiGetVersion(&version));
    EXPECT_EQ(std::uint32_t{CUPTI_API_VERSION}, version);
    std::uint64_t now = 0;
    EXPECT_EQ(CUPTI_SUCCESS, cuptiGetTimestamp(&now));
    EXPECT_EQ(CUPTI_ERROR_UNKNOWN, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
    EXPECT_EQ(CUPTI_ERROR_UNKNOWN, cuptiActivityFlushAll(0));
    CUpti_SubscriberHandle subscriber = nullptr;
    EXPECT_EQ(CUPTI_ERROR_UNKNOWN, cuptiSubscribe(&subscriber, on_call, nullptr));
  }
}

TEST_F(Libraries, CuptiRefusesTracesOutLoud) {
  EXPECT_EQ(CUPTI_ERROR_INVALID_OPERATION, cuptiActivityFlushAll(0));  // no callbacks yet
  EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiActivityRegisterCallbacks(nullptr, on_complete));
  EXPECT_EQ(CUPTI_SUCCESS, cuptiActivityRegisterCallbacks(on_buffer, on_complete));
  EXPECT_EQ(CUPTI_ERROR_NOT_SUPPORTED, cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  EXPECT_EQ(CUPTI_SUCCESS, cuptiActivityFlushAll(0));
  CUpti_SubscriberHandle subscriber = nullptr;
  EXPECT_EQ(CUPTI_ERROR_NOT_SUPPORTED, cuptiSubscribe(&subscriber, on_call, nullptr));
  EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiGetVersion(nullptr));
  EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER, cuptiGetTimestamp(nullptr));
}

TEST_F(Libraries, CuptiTimeIsTheVirtualClock) {
  std::uint64_t before = 0, after = 0;
  ASSERT_EQ(CUPTI_SUCCESS, cuptiGetTimestamp(&before));
  advance_host(1'000'000);
  ASSERT_EQ(CUPTI_SUCCESS, cuptiGetTimestamp(&after));
  EXPECT_EQ(before + 1'000'000 + static_cast<std::uint64_t>(settings_.costs.any_call), after);
}

TEST_F(Libraries, CudnnHandlesAndDescriptors) {
  EXPECT_EQ(CUDNN_STATUS_BAD_PARAM, cudnnCreate(nullptr));
  EXPECT_EQ("handle == __null", last_cudnn_error());
  EXPECT_EQ(CUDNN_STATUS_BAD_PARAM, cudnnCreateTensorDescriptor(nullptr));
  EXPECT_EQ("!tensorDesc", last_cudnn_error());
  EXPECT_EQ(CUDNN_STATUS_SUCCESS, cudnnDestroy(nullptr));
  EXPECT_EQ(CUDNN_STATUS_SUCCESS, cudnnDestroyTensorDescriptor(nullptr));
  cudnnHandle_t handle = nullptr;
  EXPECT_EQ(CUDNN_STATUS_SUCCESS, cudnnCreate(&handle));
  EXPECT_EQ(CUDNN_STATUS_SUCCESS, cudnnDestroy(handle));
  EXPECT_EQ(CUDNN_STATUS_BAD_PARAM, cudnnDestroy(handle));
  std::array<char, 7> short_text{};
  cudnnGetLastErrorString(short_text.data(), short_text.size());
  EXPECT_STREQ("handle", short_text.data());
}

TEST_F(Libraries, StatusesHaveTheLibrarysNames) {
  EXPECT_STREQ("CUBLAS_STATUS_INVALID_VALUE", cublasLtGetStatusName(CUBLAS_STATUS_INVALID_VALUE));
  EXPECT_STREQ("the requested functionality is not supported",
               cublasLtGetStatusString(CUBLAS_STATUS_NOT_SUPPORTED));
  EXPECT_STREQ("unrecognized status", cublasLtGetStatusName(static_cast<cublasStatus_t>(2)));
  EXPECT_STREQ("CUDNN_STATUS_NOT_INITIALIZED", cudnnGetErrorString(CUDNN_STATUS_NOT_INITIALIZED));
  EXPECT_STREQ("CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH",
               cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH));
  EXPECT_STREQ("CUDNN_STATUS_INVALID_VALUE", cudnnGetErrorString(static_cast<cudnnStatus_t>(2001)));
  EXPECT_STREQ("CUDNN_UNKNOWN_STATUS", cudnnGetErrorString(static_cast<cudnnStatus_t>(777)));
  const char* text = nullptr;
  EXPECT_EQ(CUPTI_SUCCESS, cuptiGetResultString(CUPTI_ERROR_UNKNOWN, &text));
  EXPECT_STREQ("CUPTI_ERROR_UNKNOWN", text);
  EXPECT_EQ(CUPTI_SUCCESS, cuptiGetResultString(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, &text));
  EXPECT_STREQ("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", text);
  EXPECT_EQ(CUPTI_ERROR_INVALID_PARAMETER,
            cuptiGetResultString(static_cast<CUptiResult>(5555), &text));
}

TEST_F(Libraries, WhatIsNotDestroyedIsALeak) {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  cudnnHandle_t cudnn = nullptr;
  cudnnTensorDescriptor_t tensor = nullptr;
  cublasLtCreate(&handle);
  cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
  cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 1, 1, 1);
  cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 1, 1, 1);
  cublasLtMatmulPreferenceCreate(&preference);
  cudnnCreate(&cudnn);
  cudnnCreateTensorDescriptor(&tensor);
  std::string texts;
  for (const LintFound& found : finish()) texts += found.text + "\n";
  EXPECT_NE(std::string::npos, texts.find("cuBLASLt: 2 matrix layouts were not destroyed"))
      << texts;
  expect_lints({Lint::leak, Lint::leak, Lint::leak, Lint::leak, Lint::leak, Lint::leak});
}

// The product runs when something waits for it, and only then can it be seen to touch memory that
// is gone: the fault is the device's, and sticky.
void expect_fault(const ProductCase& product, std::size_t bytes,
                  const std::function<void(Prepared&, void*)>& put) {
  SCOPED_TRACE(product.text());
  {
    Prepared made(product);
    void* small = nullptr;
    CUDA_OK(cudaMalloc(&small, bytes));
    put(made, small);
    const cublasLtMatmulAlgo_t algorithm = made.algorithms(1)[0].algo;
    ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&algorithm));
    EXPECT_EQ(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    EXPECT_NE(std::string::npos, device_fault().find("cublasLtMatmul")) << device_fault();
    EXPECT_EQ(CUBLAS_STATUS_EXECUTION_FAILED, made.multiply(&algorithm));
  }
  reset();  // nothing could be freed any more
}

TEST_F(Libraries, AProductOnMemoryTooSmallIsAFaultOfTheDevice) {
  const ProductCase summed{.m = 8, .n = 8, .k = 8, .beta = 1};
  const std::size_t bytes = 8 * 8 * 4 - 4;
  expect_fault(summed, bytes, [](Prepared& made, void* small) { made.a = small; });
  expect_fault(summed, bytes, [](Prepared& made, void* small) { made.b = small; });
  expect_fault(summed, bytes, [](Prepared& made, void* small) { made.c = small; });
  expect_fault(summed, bytes, [](Prepared& made, void* small) { made.d = small; });
  for (const auto epilogue : {CUBLASLT_EPILOGUE_RELU_AUX_BIAS, CUBLASLT_EPILOGUE_DRELU_BGRAD}) {
    const ProductCase product{.m = 8, .n = 8, .k = 8, .epilogue = epilogue};
    expect_fault(product, 8 * 4 - 1, [](Prepared& made, void* small) {
      made.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, small);
    });
    expect_fault(product, 8 * 16 - 1, [](Prepared& made, void* small) {
      made.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, small);
    });
  }
  const ProductCase split{.m = 8, .n = 8, .k = 64, .split = true};
  expect_fault(split, 511, [](Prepared& made, void* small) {
    made.workspace = small;
    made.workspace_bytes = 512;
  });
}

TEST_F(Libraries, AProductInACaptureThatNeverRanBeforeIsALint) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Prepared made({.m = 8, .n = 8, .k = 8});
  made.stream = stream;
  const cublasLtMatmulAlgo_t algorithm = made.algorithms(1)[0].algo;
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  ASSERT_EQ(CUBLAS_STATUS_SUCCESS, made.multiply(&algorithm));
  cudaGraph_t graph = nullptr;
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  CUDA_OK(cudaGraphDestroy(graph));
  CUDA_OK(cudaStreamDestroy(stream));
  expect_lints({Lint::first_use_in_capture});
}

TEST_F(Libraries, HandlesAreNotCreatedInACapture) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  cublasLtHandle_t handle = nullptr;
  EXPECT_NE(CUBLAS_STATUS_SUCCESS, cublasLtCreate(&handle));
  cudaGraph_t graph = nullptr;
  expect_refused(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  CUDA_OK(cudaStreamDestroy(stream));
}

TEST_F(Libraries, ASecondStreamThatDoesNotWaitReadsNaN) {
  cudaStream_t producer = nullptr, consumer = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&producer, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamCreateWithFlags(&consumer, cudaStreamNonBlocking));
  Prepared first({.m = 4, .n = 4, .k = 4}), second({.m = 4, .n = 4, .k = 4});
  const OnDevice between(nullptr, 64);
  first.stream = producer;
  first.d = between.data();
  second.stream = consumer;
  second.a = between.data();
  const cublasLtMatmulAlgo_t algorithm = first.algorithms(1)[0].algo;
  std::vector<float> result(16);
  const auto sum = [&](bool waits) {
    EXPECT_EQ(CUBLAS_STATUS_SUCCESS, first.multiply(&algorithm));
    if (waits) {
      EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(producer));
    }
    EXPECT_EQ(CUBLAS_STATUS_SUCCESS, second.multiply(&algorithm));
    EXPECT_EQ(cudaSuccess, cudaStreamSynchronize(consumer));
    second.on_d.read(result.data());
    float total = 0;
    for (const float value : result) total += value;
    return total;
  };
  EXPECT_TRUE(std::isnan(sum(false)));
  EXPECT_FALSE(std::isnan(sum(true)));
  CUDA_OK(cudaStreamDestroy(producer));
  CUDA_OK(cudaStreamDestroy(consumer));
}

}  // namespace
}  // namespace stepscope::cudasim
