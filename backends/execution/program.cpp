// Lowering and planning, in that order: the planner is told sizes, it never asks a library.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/program.h"

#include "backends/execution/op_context.h"

namespace stepscope {

OpSite site_of(const Graph& graph, std::size_t index) {
  const Op& op = graph.ops()[index];
  OpSite site{op.kind, op.attrs, {}, {}};
  for (const ValueId id : op.inputs) site.in.push_back(graph.type(id));
  for (const ValueId id : op.outputs) site.out.push_back(graph.type(id));
  return site;
}

namespace {

// What a backend cannot do it says itself, by the op's name; a device that fails knows no op.
const Kernel& kernel_of(KernelCache& cache, const Graph& graph, std::size_t index) {
  try {
    return cache.get(site_of(graph, index));
  } catch (const Error& error) {
    if (error.fault() != Fault::device) throw;
    throw_at_op(graph, index, error.fault(), error.what());
  }
}

}  // namespace

Program compile(KernelCache& cache, Graph graph, const ModelLayout& layout, InPlace in_place) {
  Program program;
  program.graph = std::make_shared<const Graph>(std::move(graph));
  std::vector<Needs> needs;
  for (std::size_t i = 0; i < program.graph->ops().size(); ++i) {
    program.kernels.push_back(&kernel_of(cache, *program.graph, i));
    needs.push_back(program.kernels.back()->needs());
  }
  program.plan = make_plan(program.graph, needs, layout,
                           {.alignment = cache.backend().alignment(), .in_place = in_place});
  return program;
}

}  // namespace stepscope
