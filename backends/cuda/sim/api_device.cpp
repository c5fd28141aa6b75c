// Calls of driver and device: one invented device with fixed properties.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <cstring>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/call_state.h"
#include "backends/cuda/sim/driver.h"
#include "backends/cuda/sim/executor.h"
#include "backends/cuda/sim/memory.h"
#include "backends/cuda/sim/stream.h"

namespace {

using namespace stepscope::cudasim;

// As on an H200, so that code which asks takes the paths it takes there; the name is nobody's.
cudaDeviceProp properties() {
  cudaDeviceProp device{};
  std::strncpy(device.name, "stepscope simulated GPU", sizeof(device.name) - 1);
  device.totalGlobalMem = device_bytes_at_all();
  device.sharedMemPerBlock = kSharedLimit;
  device.sharedMemPerBlockOptin = kSharedOptIn;
  device.sharedMemPerMultiprocessor = 228 * 1024;
  device.reservedSharedMemPerBlock = 1024;
  device.regsPerBlock = 65'536;
  device.regsPerMultiprocessor = 65'536;
  device.warpSize = kWarpSize;
  device.memPitch = 0x7FFF'FFFF;
  device.maxThreadsPerBlock = kMostThreads;
  device.maxThreadsPerMultiProcessor = 2048;
  device.maxBlocksPerMultiProcessor = 32;
  device.maxThreadsDim[0] = kMostThreads;
  device.maxThreadsDim[1] = kMostThreads;
  device.maxThreadsDim[2] = 64;
  device.maxGridSize[0] = 0x7FFF'FFFF;
  device.maxGridSize[1] = 65'535;
  device.maxGridSize[2] = 65'535;
  device.totalConstMem = 64 * 1024;
  device.major = 9;
  device.minor = 0;
  device.textureAlignment = 512;
  device.multiProcessorCount = 132;
  device.l2CacheSize = 50 * 1024 * 1024;
  device.memoryBusWidth = 6144;
  device.unifiedAddressing = 1;
  device.canMapHostMemory = 1;
  device.canUseHostPointerForRegisteredMem = 1;
  device.concurrentKernels = 1;
  device.asyncEngineCount = 3;
  device.streamPrioritiesSupported = 1;
  device.globalL1CacheSupported = 1;
  device.localL1CacheSupported = 1;
  device.memoryPoolsSupported = 1;
  device.hostRegisterSupported = 1;
  return device;
}

// Asked of properties(), so that both agree; attributes that nobody asks for are refused.
cudaError_t attribute(cudaDeviceAttr which, int& value) {
  const cudaDeviceProp device = properties();
  switch (which) {
    case cudaDevAttrMaxThreadsPerBlock:
      value = device.maxThreadsPerBlock;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      value = static_cast<int>(device.sharedMemPerBlock);
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      value = static_cast<int>(device.sharedMemPerBlockOptin);
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      value = static_cast<int>(device.sharedMemPerMultiprocessor);
      return cudaSuccess;
    case cudaDevAttrWarpSize:
      value = device.warpSize;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      value = device.multiProcessorCount;
      return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      value = device.maxThreadsPerMultiProcessor;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      value = device.major;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      value = device.minor;
      return cudaSuccess;
    case cudaDevAttrL2CacheSize:
      value = device.l2CacheSize;
      return cudaSuccess;
    case cudaDevAttrClockRate:
      value = 1'980'000;  // kHz
      return cudaSuccess;
    case cudaDevAttrMemoryClockRate:
      value = 3'201'000;  // kHz
      return cudaSuccess;
    case cudaDevAttrGlobalMemoryBusWidth:
      value = device.memoryBusWidth;
      return cudaSuccess;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrConcurrentKernels:
      value = 1;
      return cudaSuccess;
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t check_device(const void* out, int device) {
  if (out == nullptr) return cudaErrorInvalidValue;
  return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

}  // namespace

cudaError_t cudaDriverGetVersion(int* version) {
  return call(CallId::cudaDriverGetVersion, [&]() -> cudaError_t {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = driver_version(current_driver());
    return cudaSuccess;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return call(CallId::cudaRuntimeGetVersion, [&]() -> cudaError_t {
    if (version == nullptr) return cudaErrorInvalidValue;
    *version = kRuntimeVersion;
    return cudaSuccess;
  });
}

// No simulated driver stands behind the runtime: no symbol is ever found.
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                             unsigned int version, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  return call(CallId::cudaGetDriverEntryPointByVersion, [&]() -> cudaError_t {
    if (symbol == nullptr || function == nullptr) return cudaErrorInvalidValue;
    if (version > static_cast<unsigned>(kRuntimeVersion)) return cudaErrorInvalidValue;
    *function = nullptr;
    if (status != nullptr) *status = cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceCount(int* count) {
  return call(CallId::cudaGetDeviceCount, [&]() -> cudaError_t {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = 1;
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call(CallId::cudaSetDevice,
              [&]() -> cudaError_t { return device == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaGetDevice(int* device) {
  return call(CallId::cudaGetDevice, [&]() -> cudaError_t {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device) {
  return call(CallId::cudaGetDeviceProperties, [&]() -> cudaError_t {
    if (const cudaError_t refused = check_device(out, device)) return refused;
    *out = properties();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  return call(CallId::cudaDeviceGetAttribute, [&]() -> cudaError_t {
    if (const cudaError_t refused = check_device(value, device)) return refused;
    return attribute(which, *value);
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call(CallId::cudaDeviceSynchronize, []() -> cudaError_t { return wait_for_all(); });
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call(CallId::cudaMemGetInfo, [&]() -> cudaError_t {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    *total = device_bytes_at_all();
    *free = device_bytes_at_all() - device_bytes_in_use();
    return cudaSuccess;
  });
}
