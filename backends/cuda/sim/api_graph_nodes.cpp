// api_graph_nodes: the runtime's calls that add explicit nodes to a graph.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/graph.h"
#include "backends/cuda/sim/graph_work.h"
#include "backends/cuda/sim/requests.h"

using namespace stepscope::cudasim;

namespace {

// make(work) -> cudaError_t, once the graph and the dependencies were found right.
template <class Make>
cudaError_t add(cudaGraphNode_t* node, cudaGraph_t handle, const cudaGraphNode_t* dependencies,
                std::size_t count, Make make) {
  CUgraph_st* const graph = graph_of(handle);
  if (node == nullptr || graph == nullptr) return cudaErrorInvalidValue;
  if (const cudaError_t bad = check_nodes(*graph, dependencies, count)) return bad;
  Work work;
  if (const cudaError_t bad = make(work)) return bad;
  note_pageable_node(work);
  *node = &add_node(*graph, std::make_shared<const Work>(std::move(work)),
                    {dependencies, dependencies + count});
  return cudaSuccess;
}

}  // namespace

cudaError_t CUDARTAPI cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, std::size_t count,
                                             const cudaKernelNodeParams* params) {
  return call(CallId::cudaGraphAddKernelNode, [&] {
    return add(node, graph, dependencies, count, [&](Work& work) { return work_of(params, work); });
  });
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies,
                                               std::size_t count, void* to, const void* from,
                                               std::size_t bytes, cudaMemcpyKind kind) {
  return call(CallId::cudaGraphAddMemcpyNode1D, [&] {
    return add(node, graph, dependencies, count,
               [&](Work& work) { return make_copy(to, from, bytes, kind, work.emplace<Copy>()); });
  });
}

cudaError_t CUDARTAPI cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* dependencies, std::size_t count,
                                             const cudaMemsetParams* params) {
  return call(CallId::cudaGraphAddMemsetNode, [&] {
    return add(node, graph, dependencies, count, [&](Work& work) { return work_of(params, work); });
  });
}

cudaError_t CUDARTAPI cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* dependencies, std::size_t count,
                                           const cudaHostNodeParams* params) {
  return call(CallId::cudaGraphAddHostNode, [&] {
    return add(node, graph, dependencies, count, [&](Work& work) { return work_of(params, work); });
  });
}

cudaError_t CUDARTAPI cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                            const cudaGraphNode_t* dependencies,
                                            std::size_t count) {
  return call(CallId::cudaGraphAddEmptyNode, [&] {
    return add(node, graph, dependencies, count, [](Work&) { return cudaSuccess; });
  });
}
