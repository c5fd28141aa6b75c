// graph_memory: who allocated what, and whether it is allocated now, in order of submission.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/graph_memory.h"

#include <algorithm>

#include "backends/cuda/sim/graph_exec.h"
#include "backends/cuda/sim/memory.h"

namespace stepscope::cudasim {
namespace {

struct GraphMemory {
  void* data = nullptr;
  const CUgraph_st* owner = nullptr;
  bool freed_by_owner = false;  // a node of the same graph frees it
  bool freed_by_other = false;  // a node of another graph does
  bool allocated = false;       // a launch did, and nothing has freed it since
  TaskRef last;                 // that uses it, as far as graphs and frees know
};

std::vector<GraphMemory>& blocks() {
  static std::vector<GraphMemory>& blocks = *new std::vector<GraphMemory>;
  return blocks;
}

GraphMemory* find(const void* data) {
  for (GraphMemory& block : blocks()) {
    if (block.data == data) return &block;
  }
  return nullptr;
}

cudaError_t admit_free(const CUgraph_st& graph, const void* data) {
  GraphMemory* const block = find(data);
  if (block == nullptr || block->freed_by_owner) return cudaErrorInvalidValue;
  const bool own = block->owner == &graph;
  if (own && block->freed_by_other) return cudaErrorInvalidValue;
  (own ? block->freed_by_owner : block->freed_by_other) = true;
  return cudaSuccess;
}

}  // namespace

cudaError_t admit_memory_node(CUgraph_st& graph, const Work& work) {
  if (const auto* release = std::get_if<Release>(&work)) return admit_free(graph, release->data);
  if (const auto* allocate = std::get_if<Allocate>(&work)) {
    blocks().push_back({.data = allocate->data, .owner = &graph});
    give_to_graph(allocate->data);
  }
  return cudaSuccess;
}

bool is_graph_memory(const void* data) { return find(data) != nullptr; }

bool may_free_graph_memory(const void* data) {
  const GraphMemory* const block = find(data);
  return block != nullptr && block->allocated;
}

void graph_memory_freed(const void* data, TaskRef release) {
  GraphMemory& block = *find(data);
  block.allocated = false;
  if (release != nullptr) block.last = std::move(release);
}

void graph_memory_launched(const CUgraphExec_st& exec) {
  for (const ExecNode& node : exec.nodes) {
    const auto* allocate = std::get_if<Allocate>(node.work.get());
    const auto* release = std::get_if<Release>(node.work.get());
    if (allocate != nullptr) find(allocate->data)->last = exec.last;
    if (release != nullptr) find(release->data)->last = exec.last;
  }
}

cudaError_t launch_graph_memory(const CUgraphExec_st& exec, std::vector<void*>* leftovers) {
  for (const ExecNode& node : exec.nodes) {
    if (const auto* allocate = std::get_if<Allocate>(node.work.get())) {
      if (!find(allocate->data)->allocated) continue;
      if (!exec.auto_free) return cudaErrorInvalidValue;
      leftovers->push_back(allocate->data);
    }
    if (const auto* release = std::get_if<Release>(node.work.get())) {
      const GraphMemory* const block = find(release->data);
      if (block == nullptr) return cudaErrorInvalidValue;
      const bool own = block->owner == exec.graph;
      if (!own && !block->allocated) return cudaErrorInvalidValue;
    }
  }
  for (const ExecNode& node : exec.nodes) {
    if (const auto* allocate = std::get_if<Allocate>(node.work.get())) {
      GraphMemory& block = *find(allocate->data);
      block.allocated = !block.freed_by_owner;
    }
    if (const auto* release = std::get_if<Release>(node.work.get())) {
      find(release->data)->allocated = false;
    }
  }
  return cudaSuccess;
}

bool has_memory_nodes(const CUgraph_st& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    const cudaGraphNodeType type = type_of(*node->work);
    return type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree;
  });
}

void drop_graph_memory(const CUgraph_st& graph) {
  const std::vector<CUgraphExec_st*> executables = live_executables();
  const bool launchable = std::any_of(executables.begin(), executables.end(),
                                      [&](const auto* exec) { return exec->graph == &graph; });
  if (launchable || graph_of(const_cast<CUgraph_st*>(&graph)) != nullptr) return;
  const auto owned = [&](const GraphMemory& block) { return block.owner == &graph; };
  if (std::none_of(blocks().begin(), blocks().end(), owned)) return;
  std::erase_if(blocks(), [&](const GraphMemory& block) {
    if (!owned(block)) return false;
    if (block.allocated) {
      take_from_graph(block.data);
    } else if (block.last == nullptr || block.last->done) {
      free_device(block.data);
    } else {
      submit_task(std::make_shared<const Work>(Release{block.data, true}), {block.last}, false);
    }
    return true;
  });
}

void reset_graph_memory() { blocks().clear(); }

}  // namespace stepscope::cudasim
