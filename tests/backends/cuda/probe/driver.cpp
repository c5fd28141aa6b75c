// What calls answer, and leave in their arguments, on whatever machine this is: with a device,
// without one, without a driver.
// SPDX-License-Identifier: Apache-2.0
#include <cublasLt.h>
#include <cudnn.h>
#include <cupti.h>

#include <cstdint>

#include "tests/backends/cuda/probe/kernels.h"
#include "tests/backends/cuda/probe/rules.h"

namespace stepscope::probe {
namespace {

// Where a call wrote nothing, the argument still is what it was.
template <class Pointer>
std::string_view left_alone(Pointer pointer, Pointer before) {
  return pointer == before ? "left alone" : "written";
}

void versions_and_devices(Report& report) {
  const cudaError_t first = cudaGetLastError(), second = cudaGetLastError();
  report.code("cudaGetLastError, first call of the process", first);
  report.code("cudaGetLastError again", second);
  report.code("cudaPeekAtLastError", cudaPeekAtLastError());
  int version = -7;
  report.code("cudaDriverGetVersion", cudaDriverGetVersion(&version));
  report.value("the driver's version", version, Settled::by_device);
  report.code("cudaRuntimeGetVersion", cudaRuntimeGetVersion(&version));
  report.value("the runtime's version", version, Settled::by_device);
  int count = -7;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  report.code("cudaGetDeviceCount", counted);
  report.value("its text", cudaGetErrorString(counted));
  report.value("the count, -7 before", count, Settled::by_device);
  int device = -7;
  report.code("cudaSetDevice(0)", cudaSetDevice(0));
  report.code("cudaGetDevice", cudaGetDevice(&device));
  report.value("the device, -7 before", device);
  cudaDeviceProp properties{};
  report.code("cudaGetDeviceProperties", cudaGetDeviceProperties(&properties, 0));
  report.code("cudaSetDevice(4711)", cudaSetDevice(4711));
  void* function = nullptr;
  report.code(
      "cudaGetDriverEntryPointByVersion",
      cudaGetDriverEntryPointByVersion("cuInit", &function, 12000, cudaEnableDefault, nullptr));
}

void memory_and_work(Report& report) {
  void* const before = reinterpret_cast<void*>(std::uintptr_t{16});
  void *device = before, *pinned = before;
  report.code("cudaMalloc", cudaMalloc(&device, 64));
  report.value("its pointer", left_alone(device, before));
  report.code("cudaMallocHost", cudaMallocHost(&pinned, 64));
  report.value("its pointer", left_alone(pinned, before));
  report.code("cudaFree(null)", cudaFree(nullptr));
  cudaStream_t stream = nullptr, plain = nullptr;
  cudaEvent_t event = nullptr;
  cudaGraph_t graph = nullptr;
  report.code("cudaStreamCreate", cudaStreamCreate(&plain));
  report.code("cudaStreamCreateWithFlags",
              cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  report.code("cudaEventCreate", cudaEventCreate(&event));
  report.code("cudaGraphCreate", cudaGraphCreate(&graph, 0));
  report.value("the handles are null", yes(!stream && !plain && !event && !graph));
  cudaFuncAttributes attributes{};
  report.code("cudaFuncGetAttributes", cudaFuncGetAttributes(&attributes, nothing_kernel()));
  report.code("a launch", launch_nothing(stream, dim3(1), dim3(1), 0));
  report.code("cudaDeviceSynchronize", cudaDeviceSynchronize());
  if (device != before) {  // then all of them are there
    cudaGraphDestroy(graph);
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    cudaStreamDestroy(plain);
    cudaFreeHost(pinned);
    cudaFree(device);
  }
}

// Descriptors are made of settings alone: what they refuse is the same on every machine.
void set_descriptors(Report& report, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t layout) {
  const auto set = [&](int attribute, const void* value, std::size_t bytes) {
    return cublasLtMatmulDescSetAttribute(
        product, static_cast<cublasLtMatmulDescAttributes_t>(attribute), value, bytes);
  };
  const cublasOperation_t transposed = CUBLAS_OP_T;
  const std::uint32_t epilogue = CUBLASLT_EPILOGUE_RELU, unknown_epilogue = 77;
  const std::int64_t mask_ld = 100;  // no multiple of 128
  const cublasLtOrder_t rows = CUBLASLT_ORDER_ROW;
  report.code("set TRANSA", set(CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof(transposed)));
  report.code("set TRANSA, wrong size", set(CUBLASLT_MATMUL_DESC_TRANSA, &transposed, 2));
  report.code("set TRANSA, no value", set(CUBLASLT_MATMUL_DESC_TRANSA, nullptr, 4));
  report.code("set EPILOGUE", set(CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof(epilogue)));
  report.code("set EPILOGUE to an unknown one",
              set(CUBLASLT_MATMUL_DESC_EPILOGUE, &unknown_epilogue, sizeof(unknown_epilogue)));
  report.code("set EPILOGUE_AUX_LD to 100",
              set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &mask_ld, sizeof(mask_ld)));
  // The last number that the enumeration has room for: more would be undefined in C++.
  report.code("set an unknown attribute", set(63, &epilogue, sizeof(epilogue)));
  report.code("set TRANSA of a null descriptor",
              cublasLtMatmulDescSetAttribute(nullptr, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                             sizeof(transposed)));
  report.code(
      "set a layout's ORDER",
      cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &rows, sizeof(rows)));
  report.code("set a layout's ORDER, wrong size",
              cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, &rows, 2));
  cublasLtMatrixLayout_t odd = nullptr;
  report.code("a layout whose columns are nearer than its rows are many",
              cublasLtMatrixLayoutCreate(&odd, CUDA_R_32F, 16, 16, 8));
  cublasLtMatrixLayoutDestroy(odd);
}

void products(Report& report) {
  cublasLtHandle_t handle = nullptr;
  report.code("cublasLtCreate", cublasLtCreate(&handle));
  report.value("its handle is null", yes(handle == nullptr));
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  report.code("cublasLtMatmulDescCreate",
              cublasLtMatmulDescCreate(&product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  report.code("cublasLtMatrixLayoutCreate",
              cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 16, 16, 16));
  report.code("cublasLtMatmulPreferenceCreate", cublasLtMatmulPreferenceCreate(&preference));
  cublasLtMatmulHeuristicResult_t result{};
  int found = 0;
  report.device_code("cublasLtMatmulAlgoGetHeuristic with a null handle",
                     cublasLtMatmulAlgoGetHeuristic(nullptr, product, layout, layout, layout,
                                                    layout, preference, 1, &result, &found));
  set_descriptors(report, product, layout);
  cublasLtMatmulPreferenceDestroy(preference);
  cublasLtMatrixLayoutDestroy(layout);
  cublasLtMatmulDescDestroy(product);
  if (handle != nullptr) {
    cublasLtDestroy(handle);
  }
}

void convolutions(Report& report) {
  cudnnHandle_t handle = nullptr;
  report.code("cudnnCreate", cudnnCreate(&handle));
  report.value("its handle is null", yes(handle == nullptr));
  cudnnTensorDescriptor_t tensor = nullptr;
  report.code("cudnnCreateTensorDescriptor", cudnnCreateTensorDescriptor(&tensor));
  report.code("cudnnDestroyTensorDescriptor", cudnnDestroyTensorDescriptor(tensor));
  if (handle != nullptr) {
    cudnnDestroy(handle);
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = nullptr;
  *bytes = *most_records = 0;
}
void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t*, std::size_t, std::size_t) {}
void CUPTIAPI called(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

// What a working driver's CUPTI answers is open until traces are written.
void traces(Report& report) {
  std::uint32_t version = 0;
  std::uint64_t now = 0;
  CUpti_SubscriberHandle subscriber = nullptr;
  report.code("cuptiGetVersion", cuptiGetVersion(&version));
  report.code("cuptiGetTimestamp", cuptiGetTimestamp(&now));
  report.device_code("cuptiActivityRegisterCallbacks",
                     cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
  report.device_code("cuptiActivityEnable of kernels",
                     cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  report.device_code("cuptiActivityEnable of copies",
                     cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
  report.device_code("cuptiActivityEnable of calls",
                     cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
  report.device_code("cuptiActivityFlushAll", cuptiActivityFlushAll(0));
  report.device_code("cuptiSubscribe", cuptiSubscribe(&subscriber, called, nullptr));
}

}  // namespace

void run_driver(Report& report) {
  versions_and_devices(report);
  memory_and_work(report);
  products(report);
  convolutions(report);
  traces(report);
}

}  // namespace stepscope::probe
