// api_graph: the runtime's calls that make, destroy and ask after graphs and nodes.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/graph.h"

using namespace stepscope::cudasim;

namespace {

// Fills a caller's list of `*count` places, the rest with null; tells how many there are, or how
// many were written.
void write_nodes(const std::vector<CUgraphNode_st*>& nodes, cudaGraphNode_t* to,
                 std::size_t* count) {
  if (to != nullptr) {
    const std::size_t written = std::min(*count, nodes.size());
    std::copy_n(nodes.begin(), written, to);
    std::fill(to + written, to + *count, nullptr);
    *count = written;
  } else {
    *count = nodes.size();
  }
}

std::vector<CUgraphNode_st*> all_nodes(const CUgraph_st& graph) {
  std::vector<CUgraphNode_st*> nodes;
  for (const auto& node : graph.nodes) nodes.push_back(node.get());
  return nodes;
}

struct Edges {
  std::vector<CUgraphNode_st*> from, to;
  std::vector<cudaGraphEdgeData> data;
};
// Rule 36: what each edge is, for a caller who asks; 60 for one who does not, where one is not
// plain.
cudaError_t write_edges(const std::vector<cudaGraphEdgeData>& edges, cudaGraphEdgeData* to,
                        std::size_t count) {
  if (to != nullptr) {
    std::copy_n(edges.begin(), std::min(count, edges.size()), to);
    return cudaSuccess;
  }
  const bool plain = std::all_of(edges.begin(), edges.end(), [](const cudaGraphEdgeData& edge) {
    return edge.type == cudaGraphDependencyTypeDefault;
  });
  return plain ? cudaSuccess : cudaErrorLossyQuery;
}

Edges all_edges(const CUgraph_st& graph) {
  Edges edges;
  for (const auto& node : graph.nodes) {
    for (CUgraphNode_st* before : node->after) {
      edges.from.push_back(before);
      edges.to.push_back(node.get());
      edges.data.push_back(edge_data(*before, *node));
    }
  }
  return edges;
}

bool follows_already(const CUgraphNode_st& node, const CUgraphNode_st* before) {
  return std::find(node.after.begin(), node.after.end(), before) != node.after.end();
}

cudaError_t add_dependencies(CUgraph_st& graph, const cudaGraphNode_t* from,
                             const cudaGraphNode_t* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    for (const cudaGraphNode_t node : {from[i], to[i]}) {
      if (node_of(node) == nullptr || node->graph != &graph) return cudaErrorInvalidValue;
    }
    if (from[i] == to[i] || follows_already(*to[i], from[i])) return cudaErrorInvalidValue;
    for (std::size_t j = 0; j < i; ++j) {
      if (from[i] == from[j] && to[i] == to[j]) return cudaErrorInvalidValue;
    }
  }
  for (std::size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
  return cudaSuccess;
}

}  // namespace

cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return call(CallId::cudaGraphCreate, [&]() -> cudaError_t {
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    *graph = &make_graph();
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t handle) {
  return call(CallId::cudaGraphDestroy, [&]() -> cudaError_t {
    CUgraph_st* const graph = graph_of(handle);
    // "Operations other than destroy" are what a graph permits while a capture goes into it.
    if (graph == nullptr || captures_into(*graph)) return cudaErrorInvalidValue;
    destroy_graph(*graph);
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t handle, const cudaGraphNode_t* from,
                                               const cudaGraphNode_t* to,
                                               const cudaGraphEdgeData* data, std::size_t count) {
  return call(CallId::cudaGraphAddDependencies, [&]() -> cudaError_t {
    CUgraph_st* const graph = graph_of(handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    if (count != 0 && (from == nullptr || to == nullptr)) return cudaErrorInvalidValue;
    if (const cudaError_t bad = check_edge_data(data, count)) return bad;
    return add_dependencies(*graph, from, to, count);
  });
}

cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes,
                                        std::size_t* count) {
  return call(CallId::cudaGraphGetNodes, [&]() -> cudaError_t {
    const CUgraph_st* const graph = graph_of(handle);
    if (graph == nullptr || count == nullptr) return cudaErrorInvalidValue;
    write_nodes(all_nodes(*graph), nodes, count);
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from,
                                        cudaGraphNode_t* to, cudaGraphEdgeData* data,
                                        std::size_t* count) {
  return call(CallId::cudaGraphGetEdges, [&]() -> cudaError_t {
    const CUgraph_st* const graph = graph_of(handle);
    if (graph == nullptr || count == nullptr) return cudaErrorInvalidValue;
    if ((from == nullptr) != (to == nullptr)) return cudaErrorInvalidValue;
    if (data != nullptr && from == nullptr) return cudaErrorInvalidValue;
    const Edges edges = all_edges(*graph);
    if (const cudaError_t lossy = write_edges(edges.data, data, *count)) return lossy;
    std::size_t written = *count;
    write_nodes(edges.from, from, &written);
    write_nodes(edges.to, to, count);
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return call(CallId::cudaGraphNodeGetType, [&]() -> cudaError_t {
    const CUgraphNode_st* const node = node_of(handle);
    if (node == nullptr || type == nullptr) return cudaErrorInvalidValue;
    *type = type_of(*node->work);
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes,
                                                   cudaGraphEdgeData* data, std::size_t* count) {
  return call(CallId::cudaGraphNodeGetDependencies, [&]() -> cudaError_t {
    const CUgraphNode_st* const node = node_of(handle);
    if (node == nullptr || count == nullptr) return cudaErrorInvalidValue;
    if (data != nullptr && nodes == nullptr) return cudaErrorInvalidValue;
    std::vector<cudaGraphEdgeData> edges;
    for (const CUgraphNode_st* before : node->after) edges.push_back(edge_data(*before, *node));
    if (const cudaError_t lossy = write_edges(edges, data, *count)) return lossy;
    write_nodes(node->after, nodes, count);
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetParams(cudaGraphNode_t handle,
                                                   cudaKernelNodeParams* params) {
  return call(CallId::cudaGraphKernelNodeGetParams, [&]() -> cudaError_t {
    CUgraphNode_st* const node = node_of(handle);
    if (node == nullptr || params == nullptr) return cudaErrorInvalidValue;
    if (type_of(*node->work) != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
    const auto* kernel = std::get_if<KernelCall>(node->work.get());
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;  // a library's own
    node->parameters.clear();
    for (const Parameter& parameter : kernel->signature->parameters) {
      const std::byte* const at = kernel->arguments.data() + parameter.offset;
      node->parameters.push_back(const_cast<std::byte*>(at));  // read only, says CUDA's header
    }
    *params = {};
    params->func = const_cast<void*>(kernel->function);
    params->gridDim = kernel->grid;
    params->blockDim = kernel->block;
    params->sharedMemBytes = static_cast<unsigned>(kernel->dynamic_shared);
    params->kernelParams = node->parameters.data();
    return cudaSuccess;
  });
}
