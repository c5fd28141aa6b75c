// graph_update: what an executable graph may become (rules 26 to 28).
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "backends/cuda/sim/graph_exec.h"

namespace stepscope::cudasim {
namespace {

// Registered memory is pinned.
Place kind_of(const void* address) {
  const Place place = place_of(address);
  return place == Place::registered ? Place::pinned : place;
}

bool may_become(const Fill& before, const Fill& after) {
  if (after.width == 0 || after.height == 0) return false;
  if (before.height == 1) return after.height == 1;  // one row: its length may change
  return before.width == after.width && before.height == after.height &&
         before.element_size == after.element_size && before.pitch == after.pitch;
}

cudaGraphExecUpdateResultInfo failed(cudaGraphExecUpdateResult result, CUgraphNode_st* node,
                                     CUgraphNode_st* from = nullptr) {
  return {result, node, from};
}

// Rule 26: the same number of dependencies, on the nodes that were paired, in the same order.
cudaGraphExecUpdateResultInfo check_edges(const CUgraphExec_st& exec, const CUgraph_st& graph) {
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    CUgraphNode_st* const node = graph.nodes[i].get();
    const std::vector<std::size_t>& after = exec.nodes[i].after;
    if (node->after.size() != after.size()) {
      return failed(cudaGraphExecUpdateErrorTopologyChanged, node);
    }
    for (std::size_t j = 0; j < after.size(); ++j) {
      if (node->after[j]->id == after[j]) continue;
      return failed(cudaGraphExecUpdateErrorTopologyChanged, node, node->after[j]);
    }
  }
  return failed(cudaGraphExecUpdateSuccess, nullptr);
}

}  // namespace

Operands operands_of(const Work& work) {
  if (const auto* copy = std::get_if<Copy>(&work)) return {kind_of(copy->to), kind_of(copy->from)};
  if (const auto* fill = std::get_if<Fill>(&work)) return {kind_of(fill->to), Place::device};
  return {};
}

void set_work(CUgraphExec_st& exec, ExecNode& node, WorkRef work) {
  exec.launched = false;
  node.operands = operands_of(*work);
  node.work = std::move(work);
}

cudaGraphExecUpdateResult check_change(const ExecNode& node, const Work& to) {
  const Work& from = *node.work;
  const cudaGraphNodeType type = type_of(to);
  if (type_of(from) != type) return cudaGraphExecUpdateErrorNodeTypeChanged;
  if (type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree) {
    return cudaGraphExecUpdateErrorNotSupported;
  }
  const Operands operands = operands_of(to);
  if (operands.to != node.operands.to || operands.from != node.operands.from) {
    return cudaGraphExecUpdateErrorParametersChanged;
  }
  if (const auto* copy = std::get_if<Copy>(&to); copy != nullptr && copy->bytes == 0) {
    return cudaGraphExecUpdateErrorParametersChanged;
  }
  if (const auto* fill = std::get_if<Fill>(&to)) {
    if (!may_become(std::get<Fill>(from), *fill)) return cudaGraphExecUpdateErrorParametersChanged;
  }
  return cudaGraphExecUpdateSuccess;
}

cudaGraphExecUpdateResultInfo update_executable(CUgraphExec_st& exec, const CUgraph_st& graph) {
  if (exec.nodes.size() != graph.nodes.size()) {
    return failed(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
  }
  const cudaGraphExecUpdateResultInfo edges = check_edges(exec, graph);
  if (edges.result != cudaGraphExecUpdateSuccess) return edges;
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    const cudaGraphExecUpdateResult result = check_change(exec.nodes[i], *graph.nodes[i]->work);
    if (result != cudaGraphExecUpdateSuccess) return failed(result, graph.nodes[i].get());
  }
  for (std::size_t i = 0; i < exec.nodes.size(); ++i) {
    set_work(exec, exec.nodes[i], graph.nodes[i]->work);
  }
  return failed(cudaGraphExecUpdateSuccess, nullptr);
}

ExecNode* copy_of(CUgraphExec_st& exec, cudaGraphNode_t handle) {
  const CUgraphNode_st* const node = node_of(handle);
  if (node == nullptr || node->graph != exec.graph || node->id >= exec.nodes.size()) return nullptr;
  return &exec.nodes[node->id];
}

}  // namespace stepscope::cudasim
