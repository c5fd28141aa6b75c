// Passes: a pass is a name and a pure function from graph to graph. The pipeline runs a list of
// them, verifies after each, and keeps what each one changed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/ir/graph.h"

namespace stepscope {

struct Pass {
  std::string_view name;
  std::string_view summary;  // one line for people
  Graph (*run)(const Graph&);
};

// Dead code, common sub-expressions, multiplications by one. Keeps updates, states and random ops
// as they are; never changes the bits of a kept value.
Graph simplify(const Graph& graph);

// Passes that run in every mode, with or without fusion: simplify, schedule.
std::span<const Pass> standard_passes();

struct PassReport {
  std::string name;
  std::size_t ops_before = 0, ops_after = 0;
  // Bytes of computed and saved values that exist before and not after: what need not be moved.
  std::int64_t intermediate_bytes_removed = 0;
  std::chrono::nanoseconds time{};
};

struct PipelineResult {
  Graph graph;
  std::vector<PassReport> reports;
};

// Runs the passes in order. Verifies the graph before the first and after each: a pass that breaks
// the law throws bad_graph that begins with its name. `leave_out` names passes to skip; throws
// bad_input, with the nearest name, when there is no such pass in the list.
PipelineResult run_passes(Graph graph, std::span<const Pass> passes,
                          std::span<const std::string> leave_out = {});

}  // namespace stepscope
