// Every call of the runtime that has to do with devices, memory, streams, events and launches.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>

#include "tests/backends/cuda/probe/every_call.h"
#include "tests/backends/cuda/probe/kernels.h"

namespace stepscope::probe {
namespace {

// What calls may write to. No constructor, nothing but zeros.
int number;
float milliseconds;
std::size_t size, more_size;
void* address;
cudaDeviceProp properties;
cudaStream_t stream;
cudaEvent_t event;
cudaFuncAttributes function_attributes;
cudaPointerAttributes pointer_attributes;
alignas(4096) std::byte page[4096];
std::byte from[64], to[64];

void nothing_on_host(void*) {}
void nothing_called_back(cudaStream_t, cudaError_t, void*) {}

Status copy_batch() {
  void* to_list[] = {to};
  const void* from_list[] = {from};
  std::size_t sizes[] = {sizeof(to)}, first[] = {0};
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  return status_of(cudaMemcpyBatchAsync(to_list, from_list, sizes, 1, &attributes, first, 1,
                                        cudaStreamPerThread));
}

Status launch_untyped() {
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(1);
  return status_of(cudaLaunchKernelExC(&config, nothing_kernel(), nullptr));
}

// One line a call: its name, and the call with arguments as good as can be had.
#define ENTRY(name, ...)                               \
  Entry {                                              \
#name, [] { return status_of(name(__VA_ARGS__)); } \
  }

constexpr std::array kDevice = {
    ENTRY(cudaDriverGetVersion, &number),
    ENTRY(cudaRuntimeGetVersion, &number),
    ENTRY(cudaGetDriverEntryPointByVersion, "cuInit", &address, 12000, cudaEnableDefault, nullptr),
    ENTRY(cudaGetDeviceCount, &number),
    ENTRY(cudaSetDevice, 0),
    ENTRY(cudaGetDevice, &number),
    ENTRY(cudaGetDeviceProperties, &properties, 0),
    ENTRY(cudaDeviceGetAttribute, &number, cudaDevAttrMultiProcessorCount, 0),
    ENTRY(cudaDeviceSynchronize),
    ENTRY(cudaGetLastError),
    ENTRY(cudaPeekAtLastError),
    ENTRY(cudaMemGetInfo, &size, &more_size),
    ENTRY(cudaMalloc, &address, 64),
    ENTRY(cudaFree, nullptr),
    ENTRY(cudaMallocHost, &address, 64),
    ENTRY(cudaFreeHost, nullptr),
    ENTRY(cudaHostRegister, page, sizeof(page), cudaHostRegisterDefault),
    ENTRY(cudaHostUnregister, page),
    ENTRY(cudaMallocAsync, &address, 64, nullptr),
    ENTRY(cudaFreeAsync, nullptr, nullptr),
    ENTRY(cudaPointerGetAttributes, &pointer_attributes, page),
    ENTRY(cudaMemcpy, to, from, sizeof(to), cudaMemcpyDefault),
    ENTRY(cudaMemset, to, 0, sizeof(to)),
    ENTRY(cudaMemcpyAsync, to, from, sizeof(to), cudaMemcpyDefault, nullptr),
    ENTRY(cudaMemsetAsync, to, 0, sizeof(to), nullptr),
    Entry{"cudaMemcpyBatchAsync", copy_batch},
    ENTRY(cudaStreamCreate, &stream),
    ENTRY(cudaStreamCreateWithFlags, &stream, cudaStreamNonBlocking),
    ENTRY(cudaStreamDestroy, nullptr),
    ENTRY(cudaStreamSynchronize, nullptr),
    ENTRY(cudaStreamQuery, nullptr),
    ENTRY(cudaStreamWaitEvent, nullptr, nullptr, 0),
    ENTRY(cudaStreamAddCallback, nullptr, nothing_called_back, nullptr, 0),
    ENTRY(cudaLaunchHostFunc, nullptr, nothing_on_host, nullptr),
    ENTRY(cudaEventCreate, &event),
    ENTRY(cudaEventCreateWithFlags, &event, cudaEventDisableTiming),
    ENTRY(cudaEventDestroy, nullptr),
    ENTRY(cudaEventRecord, nullptr, nullptr),
    ENTRY(cudaEventSynchronize, nullptr),
    ENTRY(cudaEventQuery, nullptr),
    ENTRY(cudaEventElapsedTime, &milliseconds, nullptr, nullptr),
    Entry{"cudaLaunchKernelExC", launch_untyped},
    ENTRY(cudaFuncGetAttributes, &function_attributes, nothing_kernel()),
    ENTRY(cudaFuncSetAttribute, nothing_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize, 64),
};

}  // namespace

std::span<const Entry> runtime_calls() { return kDevice; }

}  // namespace stepscope::probe
