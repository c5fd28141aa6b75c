// graph_memory: memory that nodes of graphs allocate and free (rule 22).
//
// Its address is fixed when the allocation node is captured. The graph owns it; a launch whose
// graph does not free it leaves it allocated, for later work of any stream, until it is freed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "backends/cuda/sim/graph.h"
#include "backends/cuda/sim/stream.h"
#include "backends/cuda/sim/work.h"

namespace stepscope::cudasim {

// For the work of a node that is about to be added: takes an allocation over, refuses (1) to free
// what no graph allocates, or what is freed elsewhere. Other work passes.
cudaError_t admit_memory_node(CUgraph_st& graph, const Work& work);
bool is_graph_memory(const void* data);
// From cudaFree and cudaFreeAsync outside captures, at the call: whether a launch left the memory
// allocated. Once it is freed, by a Release that was submitted or (null) at once, it counts as
// free.
bool may_free_graph_memory(const void* data);
void graph_memory_freed(const void* data, TaskRef release);

// A launch of the executable, in order of submission. 1: what it allocates is still allocated, or
// what it frees is not. `leftovers`: what must be released first (automatic frees).
cudaError_t launch_graph_memory(const CUgraphExec_st& exec, std::vector<void*>* leftovers);
// And its end, which memory that goes with its graph waits for.
void graph_memory_launched(const CUgraphExec_st& exec);
bool has_memory_nodes(const CUgraph_st& graph);

// After a graph, or an executable of it, went: memory that no launch can bring back any more ends
// behind the launches that are under way, and what a launch left allocated becomes memory like any
// other.
void drop_graph_memory(const CUgraph_st& graph);
void reset_graph_memory();

}  // namespace stepscope::cudasim
