// graph: nodes and edges, executables made of them, and their launches (rules 22 to 28).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/sim/stream.h"
#include "backends/cuda/sim/work.h"

struct CUgraph_st;

// A node of a graph: what it does and what it follows. Owned by its graph.
struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  std::uint64_t id = 0;  // in order of creation in its graph, from 0
  stepscope::cudasim::WorkRef work;
  std::vector<CUgraphNode_st*> after;
  std::vector<void*> parameters;  // into the kernel's arguments; cudaGraphKernelNodeGetParams
};

struct CUgraph_st {
  unsigned id = 0;
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;  // in order of creation
};

struct CUgraphExec_st;  // graph_exec.cpp: copies of nodes, so that its graph may go (rule 25)

namespace stepscope::cudasim {

CUgraph_st* graph_of(cudaGraph_t handle);  // null: not live
CUgraphNode_st* node_of(cudaGraphNode_t handle);
CUgraph_st& make_graph();
void destroy_graph(CUgraph_st& graph);
CUgraphNode_st& add_node(CUgraph_st& graph, WorkRef work, std::vector<CUgraphNode_st*> after);
cudaGraphNodeType type_of(const Work& work);
// 1 unless each is a node of the graph, and none is there twice.
cudaError_t check_nodes(const CUgraph_st& graph, const cudaGraphNode_t* nodes, std::size_t count);
// Of the edge from `before`: plain, but for a captured programmatic launch behind a kernel.
cudaGraphEdgeData edge_data(const CUgraphNode_st& before, const CUgraphNode_st& node);
// 801 for edges that are not plain: a capture alone makes them.
cudaError_t check_edge_data(const cudaGraphEdgeData* data, std::size_t count);

// From cudaFree and its kin: whether an executable holds the address (lint freed_before_exec).
bool an_executable_holds(const void* data, std::size_t bytes);
std::vector<std::string> live_graphs();  // leaks, one line each: graphs and executables
void reset_graphs();

}  // namespace stepscope::cudasim
