// Calls that launch kernels and host functions, and those about kernels.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/executor.h"
#include "backends/cuda/sim/requests.h"
#include "backends/cuda/sim/signature.h"
#include "backends/cuda/sim/stream.h"

namespace {

using namespace stepscope::cudasim;

// Clusters and the like are not simulated: loud, not ignored. Of a programmatic launch only the
// edge that it leaves in a graph is.
cudaError_t read_attributes(const cudaLaunchConfig_t& config, KernelCall& kernel) {
  if (config.numAttrs != 0 && config.attrs == nullptr) return cudaErrorNotSupported;
  for (unsigned index = 0; index < config.numAttrs; ++index) {
    const cudaLaunchAttribute& attribute = config.attrs[index];
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization) {
      kernel.programmatic = attribute.val.programmaticStreamSerializationAllowed != 0;
    } else if (attribute.id != cudaLaunchAttributeIgnore) {
      return cudaErrorNotSupported;
    }
  }
  return cudaSuccess;
}

cudaError_t launch(const cudaLaunchConfig_t& config, const void* function, void** arguments) {
  const auto launch_in = [&](CUstream_st& stream) -> cudaError_t {
    KernelCall kernel;
    if (const cudaError_t refused = make_kernel_call(function, config.gridDim, config.blockDim,
                                                     config.dynamicSmemBytes, arguments, kernel)) {
      return refused;
    }
    if (const cudaError_t refused = read_attributes(config, kernel)) return refused;
    return submit(stream, std::move(kernel));
  };
  return use_stream(CallId::cudaLaunchKernelExC, config.stream, launch_in);
}

cudaFuncAttributes attributes_of(const void* function) {
  cudaFuncAttributes attributes{};
  // Static shared memory is known when a kernel runs, not before: its size stays 0 here.
  attributes.maxThreadsPerBlock = kMostThreads;
  attributes.maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_limit(function));
  attributes.numRegs = 32;
  attributes.ptxVersion = 90;
  attributes.binaryVersion = 90;
  attributes.preferredShmemCarveout = -1;
  return attributes;
}

cudaError_t set_attribute(const void* function, cudaFuncAttribute attribute, int value) {
  if (function == nullptr || signature_of(function) == nullptr) {
    return cudaErrorInvalidDeviceFunction;
  }
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      if (value < 0 || static_cast<std::size_t>(value) > kSharedOptIn) return cudaErrorInvalidValue;
      set_dynamic_shared_limit(function, static_cast<std::size_t>(value));
      return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:  // a hint, -1 to 100
      return value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue;
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return call(CallId::cudaLaunchKernelExC, [&]() -> cudaError_t {
    return config != nullptr ? launch(*config, function, arguments) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call(CallId::cudaFuncGetAttributes, [&]() -> cudaError_t {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    if (function == nullptr || signature_of(function) == nullptr) {
      return cudaErrorInvalidDeviceFunction;
    }
    *attributes = attributes_of(function);
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call(CallId::cudaFuncSetAttribute,
              [&]() -> cudaError_t { return set_attribute(function, attribute, value); });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  return call(CallId::cudaLaunchHostFunc, [&]() -> cudaError_t {
    return use_stream(CallId::cudaLaunchHostFunc, handle, [&](CUstream_st& stream) {
      if (function == nullptr) return cudaErrorInvalidValue;
      return submit(stream, HostCall{function, data, {}});
    });
  });
}

// Rule 20: not for captures.
cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback, void* data,
                                  unsigned int flags) {
  return call(CallId::cudaStreamAddCallback, [&]() -> cudaError_t {
    return use_stream(CallId::cudaStreamAddCallback, handle, [&](CUstream_st& stream) {
      if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
      if (const cudaError_t refused = refuse_uncapturable(stream)) return refused;
      const auto tell = [callback, handle, data](cudaError_t status) {
        callback(handle, status, data);
      };
      return submit(stream, HostCall{nullptr, data, tell});
    });
  });
}
