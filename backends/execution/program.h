// Program: a graph, lowered and planned. Every mode executes the same program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "backends/execution/kernel_cache.h"
#include "graph/plan/plan.h"

namespace stepscope {

struct Program {
  std::shared_ptr<const Graph> graph;
  std::vector<const Kernel*> kernels;  // per op; the cache owns them
  Plan plan;
};

// The site of op `index`, types as the graph declares them.
OpSite site_of(const Graph& graph, std::size_t index);

// Lowers all ops, asks their needs, plans. Throws unsupported when an op has no kernel.
Program compile(KernelCache& cache, Graph graph, const ModelLayout& layout,
                InPlace in_place = InPlace::on);

}  // namespace stepscope
