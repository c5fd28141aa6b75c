// graph_work: what the parameter structs of nodes say, as work. Nodes and their copies in
// executables are set from them alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/sim/requests.h"

namespace stepscope::cudasim {

// 801 for arguments in the form `extra`; else as make_kernel_call.
inline cudaError_t work_of(const cudaKernelNodeParams* params, Work& work) {
  if (params == nullptr) return cudaErrorInvalidValue;
  if (params->extra != nullptr) {
    return params->kernelParams != nullptr ? cudaErrorInvalidValue : cudaErrorNotSupported;
  }
  return make_kernel_call(params->func, params->gridDim, params->blockDim, params->sharedMemBytes,
                          params->kernelParams, work.emplace<KernelCall>());
}

inline cudaError_t work_of(const cudaMemsetParams* params, Work& work) {
  if (params == nullptr) return cudaErrorInvalidValue;
  Fill wanted;
  wanted.to = params->dst;
  wanted.value = params->value;
  wanted.element_size = params->elementSize;
  wanted.width = params->width;
  wanted.height = params->height;
  wanted.pitch = params->pitch;
  return make_fill(wanted, work.emplace<Fill>());
}

inline cudaError_t work_of(const cudaHostNodeParams* params, Work& work) {
  if (params == nullptr || params->fn == nullptr) return cudaErrorInvalidValue;
  work = HostCall{params->fn, params->userData, {}};
  return cudaSuccess;
}

}  // namespace stepscope::cudasim
