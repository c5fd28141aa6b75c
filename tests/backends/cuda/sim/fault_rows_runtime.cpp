// Fault rows of devices, memory, streams, events and launches; and the scene of all rows.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/prelude.h"
//
#include <gtest/gtest.h>

#include "backends/cuda/device_compat.cuh"
#include "tests/backends/cuda/sim/fault_rows.h"

namespace stepscope::cudasim {
namespace {

__global__ void touch(float* data) { data[threadIdx.x] = 1; }

void expect_success(int code) { EXPECT_EQ(0, code); }

void make_graph_of(FaultScene& scene) {
  const cudaKernelNodeParams kernel = scene.kernel_params();
  const cudaMemsetParams fill = scene.fill_params();
  expect_success(cudaGraphCreate(&scene.graph, 0));
  expect_success(cudaGraphAddKernelNode(&scene.kernel_node, scene.graph, nullptr, 0, &kernel));
  expect_success(cudaGraphAddMemcpyNode1D(&scene.copy_node, scene.graph, &scene.kernel_node, 1,
                                          scene.host, scene.device, kSceneBytes,
                                          cudaMemcpyDeviceToHost));
  expect_success(cudaGraphAddMemsetNode(&scene.fill_node, scene.graph, &scene.copy_node, 1, &fill));
  expect_success(cudaGraphInstantiate(&scene.exec, scene.graph, 0));
}

void make_libraries_of(FaultScene& scene) {
  expect_success(cublasLtCreate(&scene.lt));
  expect_success(cublasLtMatmulDescCreate(&scene.product, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  expect_success(cublasLtMatrixLayoutCreate(&scene.layout, CUDA_R_32F, 4, 4, 4));
  expect_success(cublasLtMatmulPreferenceCreate(&scene.preference));
  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  expect_success(cublasLtMatmulAlgoGetHeuristic(scene.lt, scene.product, scene.layout, scene.layout,
                                                scene.layout, scene.layout, scene.preference, 1,
                                                &found, &count));
  EXPECT_EQ(1, count);
  scene.algorithm = found.algo;
  expect_success(cudnnCreate(&scene.dnn));
  expect_success(cudnnCreateTensorDescriptor(&scene.tensor));
}

int batch(FaultScene& scene) {
  void* to[] = {scene.device};
  const void* from[] = {scene.host};
  const std::size_t bytes[] = {kSceneBytes};
  std::size_t begins[] = {0};
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  return cudaMemcpyBatchAsync(to, from, bytes, 1, &attributes, begins, 1, scene.stream);
}

int launch_raw(FaultScene& scene) {
  cudaLaunchConfig_t config{};
  config.gridDim = 1;
  config.blockDim = kScene;
  config.stream = scene.stream;
  return cudaLaunchKernelExC(&config, scene.kernel, scene.arguments);
}

// What a call hands out and nobody looks at.
int number;
std::size_t size, more;
void* address;
float milliseconds;
cudaDeviceProp properties;
cudaPointerAttributes pointer;
cudaFuncAttributes function;
cudaStream_t stream;
cudaEvent_t event;

void nothing(void*) {}
void nothing_called(cudaStream_t, cudaError_t, void*) {}

#define ROW(name, ...)                                                 \
  {                                                                    \
#name, [](FaultScene& s) -> int { (void)s; return name(__VA_ARGS__); } \
  }

constexpr FaultRow kRows[] = {
    ROW(cudaDriverGetVersion, &number),
    ROW(cudaRuntimeGetVersion, &number),
    ROW(cudaGetDriverEntryPointByVersion, "cuInit", &address, 13000, cudaEnableDefault, nullptr),
    ROW(cudaGetDeviceCount, &number),
    ROW(cudaSetDevice, 0),
    ROW(cudaGetDevice, &number),
    ROW(cudaGetDeviceProperties, &properties, 0),
    ROW(cudaDeviceGetAttribute, &number, cudaDevAttrWarpSize, 0),
    ROW(cudaDeviceSynchronize),
    ROW(cudaGetLastError),
    ROW(cudaPeekAtLastError),
    ROW(cudaMemGetInfo, &size, &more),
    ROW(cudaMalloc, &address, 64),
    ROW(cudaFree, s.device),
    ROW(cudaMallocHost, &address, 64),
    ROW(cudaFreeHost, s.host),
    ROW(cudaHostRegister, s.pageable.data(), kSceneBytes, 0),
    {"cudaHostUnregister",
     [](FaultScene& s) -> int { return cudaHostUnregister(s.pageable.data()); }, 0,
     [](FaultScene& s) { expect_success(cudaHostRegister(s.pageable.data(), kSceneBytes, 0)); }},
    ROW(cudaMallocAsync, &address, 64, s.stream),
    ROW(cudaFreeAsync, s.ordered, s.stream),
    ROW(cudaPointerGetAttributes, &pointer, s.device),
    ROW(cudaMemcpy, s.device, s.host, kSceneBytes, cudaMemcpyHostToDevice),
    ROW(cudaMemset, s.device, 0, kSceneBytes),
    ROW(cudaMemcpyAsync, s.device, s.host, kSceneBytes, cudaMemcpyHostToDevice, s.stream),
    ROW(cudaMemsetAsync, s.device, 0, kSceneBytes, s.stream),
    {"cudaMemcpyBatchAsync", batch},
    ROW(cudaStreamCreate, &stream),
    ROW(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking),
    ROW(cudaStreamDestroy, s.stream),
    ROW(cudaStreamSynchronize, s.stream),
    ROW(cudaStreamQuery, s.stream),
    ROW(cudaStreamWaitEvent, s.stream, s.end, 0),
    ROW(cudaStreamAddCallback, s.stream, nothing_called, nullptr, 0),
    ROW(cudaLaunchHostFunc, s.stream, nothing, nullptr),
    ROW(cudaEventCreate, &event),
    ROW(cudaEventCreateWithFlags, &event, cudaEventDisableTiming),
    ROW(cudaEventDestroy, s.end),
    ROW(cudaEventRecord, s.end, s.stream),
    ROW(cudaEventSynchronize, s.end),
    ROW(cudaEventQuery, s.end),
    ROW(cudaEventElapsedTime, &milliseconds, s.begin, s.end),
    {"cudaLaunchKernelExC", launch_raw},
    ROW(cudaFuncGetAttributes, &function, s.kernel),
    ROW(cudaFuncSetAttribute, s.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024),
};

}  // namespace

FaultScene::FaultScene() : kernel(reinterpret_cast<const void*>(touch)) {
  REGISTER_KERNEL(touch);
  const auto bytes = kSceneBytes;
  expect_success(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  expect_success(cudaEventCreate(&begin));
  expect_success(cudaEventCreate(&end));
  expect_success(cudaMalloc(reinterpret_cast<void**>(&device), bytes));
  expect_success(cudaMalloc(reinterpret_cast<void**>(&other), bytes));
  expect_success(cudaMallocHost(reinterpret_cast<void**>(&host), bytes));
  expect_success(cudaMallocAsync(&ordered, bytes, stream));
  expect_success(cudaEventRecord(begin, stream));
  expect_success(cudaEventRecord(end, stream));
  make_graph_of(*this);
  make_libraries_of(*this);
  expect_success(cudaDeviceSynchronize());
}

cudaKernelNodeParams FaultScene::kernel_params() const {
  cudaKernelNodeParams params{};
  params.func = const_cast<void*>(kernel);
  params.gridDim = 1;
  params.blockDim = kScene;
  params.kernelParams = const_cast<void**>(arguments);
  return params;
}

cudaMemsetParams FaultScene::fill_params() const {
  cudaMemsetParams params{};
  params.dst = device;
  params.elementSize = 4;
  params.width = kScene;
  params.height = 1;
  return params;
}

std::span<const FaultRow> runtime_rows() { return kRows; }

}  // namespace stepscope::cudasim
