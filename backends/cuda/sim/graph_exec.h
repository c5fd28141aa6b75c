// graph_exec: executable graphs: copies of nodes, so that their graph may go (rule 25), and tasks
// at each launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "backends/cuda/sim/graph.h"
#include "backends/cuda/sim/memory.h"
#include "backends/cuda/sim/stream.h"
#include "backends/cuda/sim/work.h"

namespace stepscope::cudasim {

// The kinds of memory of a copy or fill, taken when it was set: the memory may be freed since.
struct Operands {
  Place to = Place::device, from = Place::device;
};

struct ExecNode {
  WorkRef work;  // replaced by updates; launches hold the one they were submitted with
  std::vector<std::size_t> after;
  Operands operands;
};

}  // namespace stepscope::cudasim

struct CUgraphExec_st {
  unsigned id = 0;
  const CUgraph_st* graph = nullptr;  // compared, never read: it may be gone
  bool auto_free = false;
  bool launched = false;                            // as it is: a node that was set since is not
  std::vector<stepscope::cudasim::ExecNode> nodes;  // as the graph's, in order of creation
  std::vector<std::size_t> order;                   // in which each follows what it must
  stepscope::cudasim::TaskRef last;                 // end of its last launch (rule 24)
};

namespace stepscope::cudasim {

CUgraphExec_st* executable_of(cudaGraphExec_t handle);  // null: not live
std::vector<CUgraphExec_st*> live_executables();
// 1 for a cycle, and for a second executable of a graph with memory nodes (rule 22).
cudaError_t instantiate(const CUgraph_st& graph, bool auto_free, CUgraphExec_st** exec);
cudaError_t upload(CUgraphExec_st& exec, CUstream_st& stream);
cudaError_t launch(CUgraphExec_st& exec, CUstream_st& stream);
void destroy_executable(CUgraphExec_st& exec);
void reset_executables();

// graph_update.cpp. Whether a node may become what the work says: rules 26 and 27.
Operands operands_of(const Work& work);
cudaGraphExecUpdateResult check_change(const ExecNode& node, const Work& to);
void set_work(CUgraphExec_st& exec, ExecNode& node, WorkRef work);
// The result's node and code; the executable is changed as a whole or not at all.
cudaGraphExecUpdateResultInfo update_executable(CUgraphExec_st& exec, const CUgraph_st& graph);
// The executable's copy of a node of its graph, where both still are (rule 28); else null.
ExecNode* copy_of(CUgraphExec_st& exec, cudaGraphNode_t handle);

}  // namespace stepscope::cudasim
