// graph_work: parameters of nodes, judged as those of calls (requests.h).
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/graph_work.h"

#include <fmt/format.h>

#include "backends/cuda/sim/lint.h"
#include "backends/cuda/sim/memory.h"
#include "backends/cuda/sim/requests.h"

namespace stepscope::cudasim {

cudaError_t work_of(const cudaKernelNodeParams* params, Work& work) {
  if (params == nullptr) return cudaErrorInvalidValue;
  if (params->extra != nullptr) {
    return params->kernelParams != nullptr ? cudaErrorInvalidValue : cudaErrorNotSupported;
  }
  return make_kernel_call(params->func, params->gridDim, params->blockDim, params->sharedMemBytes,
                          params->kernelParams, work.emplace<KernelCall>());
}

cudaError_t work_of(const cudaMemsetParams* params, Work& work) {
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

cudaError_t work_of(const cudaHostNodeParams* params, Work& work) {
  if (params == nullptr || params->fn == nullptr) return cudaErrorInvalidValue;
  work = HostCall{params->fn, params->userData, {}};
  return cudaSuccess;
}

void note_pageable_node(const Work& work) {
  const auto* copy = std::get_if<Copy>(&work);
  if (copy == nullptr || !has_pageable_end(*copy)) return;
  note(Lint::pageable_captured,
       fmt::format("a copy node of {} bytes from {} to {}; its addresses are baked into the graph: "
                   "pin the memory",
                   copy->bytes, describe(copy->from), describe(copy->to)));
}

}  // namespace stepscope::cudasim
