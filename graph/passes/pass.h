// Passes: a pass is a name and a pure function from graph to graph. The pipeline runs a list of
// them, verifies after each, and keeps what each one changed and what it has to say.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/ir/graph.h"

namespace stepscope {

// What a pass made of a graph. Notes are for people, a line each: why a pass left the graph, or a
// part of it, as it was. A graph alone converts: a pass with nothing to say returns just that.
struct PassResult {
  PassResult(Graph made, std::vector<std::string> said = {})
      : graph(std::move(made)), notes(std::move(said)) {}

  Graph graph;
  std::vector<std::string> notes;
};

struct Pass {
  std::string_view name;
  std::string_view summary;  // one line for people
  std::function<PassResult(const Graph&)> run;
};

// Dead code, common sub-expressions, multiplications by one. Keeps updates, states and random ops
// as they are; never changes the bits of a kept value.
Graph simplify(const Graph& graph);

// Passes that run in every mode, with or without fusion: simplify, schedule. With fusion, others
// run between them (graph/passes/fusion.h).
std::span<const Pass> standard_passes();

struct PassReport {
  std::string name;
  // An op is one launch, and a view is no op: what an unfused backend launches less is the
  // difference.
  std::size_t ops_before = 0, ops_after = 0;
  // Bytes of computed and saved values that exist before and not after: what need not be moved.
  // Negative where a pass adds values (layout: the reordered ones).
  std::int64_t intermediate_bytes_removed = 0;
  std::chrono::nanoseconds time{};
  std::vector<std::string> notes;  // PassResult::notes
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
