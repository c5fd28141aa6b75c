// api_graph_exec: the runtime's calls that make, launch, update and destroy executable graphs.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/graph_exec.h"
#include "backends/cuda/sim/graph_work.h"
#include "backends/cuda/sim/requests.h"

using namespace stepscope::cudasim;

namespace {

// make(work) -> cudaError_t. Only a node of the same type may be set (rules 27 and 28).
template <class Make>
cudaError_t set_params(cudaGraphExec_t handle, cudaGraphNode_t node, Make make) {
  CUgraphExec_st* const exec = executable_of(handle);
  ExecNode* const copy = exec == nullptr ? nullptr : copy_of(*exec, node);
  if (copy == nullptr) return cudaErrorInvalidValue;
  Work work;
  if (const cudaError_t bad = make(work)) return bad;
  if (check_change(*copy, work) != cudaGraphExecUpdateSuccess) return cudaErrorInvalidValue;
  note_pageable_node(work);
  set_work(*exec, *copy, std::make_shared<const Work>(std::move(work)));
  return cudaSuccess;
}

}  // namespace

cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t handle,
                                           unsigned long long flags) {
  return call(CallId::cudaGraphInstantiate, [&]() -> cudaError_t {
    const CUgraph_st* const graph = graph_of(handle);
    if (exec == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    // Uploads at instantiation belong to another call; launches from the device and priorities
    // are not simulated.
    constexpr unsigned long long kKnown = cudaGraphInstantiateFlagAutoFreeOnLaunch;
    if ((flags & ~kKnown) != 0) {
      const bool others = (flags & ~(cudaGraphInstantiateFlagDeviceLaunch |
                                     cudaGraphInstantiateFlagUseNodePriority | kKnown)) != 0;
      return others ? cudaErrorInvalidValue : cudaErrorNotSupported;
    }
    return instantiate(*graph, (flags & kKnown) != 0, exec);
  });
}

cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return call(CallId::cudaGraphUpload, [&]() -> cudaError_t {
    return use_stream(CallId::cudaGraphUpload, stream_handle, [&](CUstream_st& stream) {
      CUgraphExec_st* const exec = executable_of(handle);
      return exec != nullptr ? upload(*exec, stream) : cudaErrorInvalidValue;
    });
  });
}

cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream_handle) {
  return call(CallId::cudaGraphLaunch, [&]() -> cudaError_t {
    return use_stream(CallId::cudaGraphLaunch, stream_handle, [&](CUstream_st& stream) {
      CUgraphExec_st* const exec = executable_of(handle);
      return exec != nullptr ? launch(*exec, stream) : cudaErrorInvalidValue;
    });
  });
}

cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph_handle,
                                          cudaGraphExecUpdateResultInfo* info) {
  return call(CallId::cudaGraphExecUpdate, [&]() -> cudaError_t {
    if (info == nullptr) return cudaErrorInvalidValue;
    *info = {cudaGraphExecUpdateError, nullptr, nullptr};
    CUgraphExec_st* const exec = executable_of(handle);
    const CUgraph_st* const graph = graph_of(graph_handle);
    if (exec == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    *info = update_executable(*exec, *graph);
    return info->result == cudaGraphExecUpdateSuccess ? cudaSuccess
                                                      : cudaErrorGraphExecUpdateFailure;
  });
}

cudaError_t CUDARTAPI cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       const cudaKernelNodeParams* params) {
  return call(CallId::cudaGraphExecKernelNodeSetParams, [&] {
    return set_params(exec, node, [&](Work& work) { return work_of(params, work); });
  });
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                         void* to, const void* from,
                                                         std::size_t bytes, cudaMemcpyKind kind) {
  return call(CallId::cudaGraphExecMemcpyNodeSetParams1D, [&] {
    return set_params(exec, node, [&](Work& work) {
      return make_copy(to, from, bytes, kind, work.emplace<Copy>());
    });
  });
}

cudaError_t CUDARTAPI cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       const cudaMemsetParams* params) {
  return call(CallId::cudaGraphExecMemsetNodeSetParams, [&] {
    return set_params(exec, node, [&](Work& work) { return work_of(params, work); });
  });
}

cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return call(CallId::cudaGraphExecDestroy, [&]() -> cudaError_t {
    CUgraphExec_st* const exec = executable_of(handle);
    if (exec == nullptr) return cudaErrorInvalidValue;
    destroy_executable(*exec);
    return cudaSuccess;
  });
}
