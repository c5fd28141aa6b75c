// graph: which graphs and nodes live, and how nodes are added.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "backends/cuda/sim/graph_exec.h"
#include "backends/cuda/sim/graph_memory.h"

namespace stepscope::cudasim {
namespace {

struct Graphs {
  std::vector<std::unique_ptr<CUgraph_st>> live;
  // Destroyed ones keep their addresses until reset, so that a stale handle is never a new graph.
  std::vector<std::unique_ptr<CUgraph_st>> dead;
  std::unordered_set<const CUgraphNode_st*> nodes;
  unsigned next = 1;
};
Graphs& graphs() {
  static Graphs& graphs = *new Graphs;
  return graphs;
}

}  // namespace

CUgraph_st* graph_of(cudaGraph_t handle) {
  const auto& live = graphs().live;
  const bool lives = std::any_of(live.begin(), live.end(),
                                 [&](const auto& graph) { return graph.get() == handle; });
  return lives ? handle : nullptr;
}

CUgraphNode_st* node_of(cudaGraphNode_t handle) {
  return graphs().nodes.contains(handle) ? handle : nullptr;
}

CUgraph_st& make_graph() {
  CUgraph_st& graph = *graphs().live.emplace_back(std::make_unique<CUgraph_st>());
  graph.id = graphs().next++;
  return graph;
}

void destroy_graph(CUgraph_st& graph) {
  Graphs& all = graphs();
  for (const auto& node : graph.nodes) {
    all.nodes.erase(node.get());
    node->work.reset();
  }
  const auto at = std::find_if(all.live.begin(), all.live.end(),
                               [&](const auto& other) { return other.get() == &graph; });
  all.dead.push_back(std::move(*at));
  all.live.erase(at);
  drop_graph_memory(graph);
}

CUgraphNode_st& add_node(CUgraph_st& graph, WorkRef work, std::vector<CUgraphNode_st*> after) {
  auto node = std::make_unique<CUgraphNode_st>();
  node->graph = &graph;
  node->id = graph.nodes.size();
  node->work = std::move(work);
  node->after = std::move(after);
  graphs().nodes.insert(node.get());
  return *graph.nodes.emplace_back(std::move(node));
}

cudaGraphNodeType type_of(const Work& work) {
  struct Type {
    cudaGraphNodeType operator()(const Nothing&) { return cudaGraphNodeTypeEmpty; }
    cudaGraphNodeType operator()(const KernelCall&) { return cudaGraphNodeTypeKernel; }
    cudaGraphNodeType operator()(const Copy&) { return cudaGraphNodeTypeMemcpy; }
    cudaGraphNodeType operator()(const Fill&) { return cudaGraphNodeTypeMemset; }
    cudaGraphNodeType operator()(const HostCall&) { return cudaGraphNodeTypeHost; }
    cudaGraphNodeType operator()(const LibraryCall&) { return cudaGraphNodeTypeKernel; }
    cudaGraphNodeType operator()(const Allocate&) { return cudaGraphNodeTypeMemAlloc; }
    cudaGraphNodeType operator()(const Release&) { return cudaGraphNodeTypeMemFree; }
  };
  return std::visit(Type{}, work);
}

cudaError_t check_nodes(const CUgraph_st& graph, const cudaGraphNode_t* nodes, std::size_t count) {
  if (count != 0 && nodes == nullptr) return cudaErrorInvalidValue;
  std::unordered_set<const CUgraphNode_st*> seen;
  for (std::size_t i = 0; i < count; ++i) {
    const CUgraphNode_st* const node = node_of(nodes[i]);
    if (node == nullptr || node->graph != &graph) return cudaErrorInvalidValue;
    if (!seen.insert(node).second) return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaGraphEdgeData edge_data(const CUgraphNode_st& before, const CUgraphNode_st& node) {
  cudaGraphEdgeData edge{};
  const auto* const kernel = std::get_if<KernelCall>(node.work.get());
  if (kernel == nullptr || !kernel->programmatic) return edge;
  if (type_of(*before.work) != cudaGraphNodeTypeKernel) return edge;
  edge.type = cudaGraphDependencyTypeProgrammatic;
  edge.from_port = cudaGraphKernelNodePortProgrammatic;
  return edge;
}

cudaError_t check_edge_data(const cudaGraphEdgeData* data, std::size_t count) {
  for (std::size_t i = 0; data != nullptr && i < count; ++i) {
    const cudaGraphEdgeData& edge = data[i];
    if (edge.from_port != 0 || edge.to_port != 0 || edge.type != 0) return cudaErrorNotSupported;
  }
  return cudaSuccess;
}

std::vector<std::string> live_graphs() {
  std::vector<std::string> lines;
  for (const auto& graph : graphs().live) {
    lines.push_back(fmt::format("graph {} of {} nodes", graph->id, graph->nodes.size()));
  }
  for (const CUgraphExec_st* exec : live_executables()) {
    lines.push_back(fmt::format("executable graph {} of {} nodes", exec->id, exec->nodes.size()));
  }
  return lines;
}

void reset_graphs() {
  Graphs& all = graphs();
  all.live.clear();
  all.dead.clear();
  all.nodes.clear();
  all.next = 1;
  reset_executables();
  reset_graph_memory();
}

}  // namespace stepscope::cudasim
