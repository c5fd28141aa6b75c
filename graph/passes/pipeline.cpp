// The pipeline, and the list of passes that always run.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <utility>

#include "graph/passes/pass.h"
#include "graph/plan/schedule.h"
#include "ops/base/check.h"
#include "ops/base/nearest.h"
#include "ops/ir/copy.h"
#include "ops/ir/verify.h"

namespace stepscope {
namespace {

Graph in_schedule(const Graph& graph) { return reordered(graph, schedule(graph)); }

std::int64_t intermediate_bytes(const Graph& graph) {
  std::int64_t bytes = 0;
  for (const Value& value : graph.values()) {
    if (value.sharing != Sharing::own || value.producer < 0) continue;
    bytes += static_cast<std::int64_t>(value.type.bytes());
  }
  return bytes;
}

void check_names(std::span<const std::string> leave_out, std::span<const Pass> passes) {
  std::vector<std::string> names;
  for (const Pass& pass : passes) names.emplace_back(pass.name);
  for (const std::string& each : leave_out) {
    check(std::find(names.begin(), names.end(), each) != names.end(), Fault::bad_input, "{}",
          unknown_name("pass", each, names));
  }
}

// What goes wrong inside a pass is told with its name first.
PassResult run_named(const Pass& pass, const Graph& graph) {
  try {
    return pass.run(graph);
  } catch (const Error& error) {
    fail(error.fault(), "{}: {}", pass.name, error.what());
  }
}

}  // namespace

std::span<const Pass> standard_passes() {
  static const std::array standard = {
      Pass{"simplify", "drops dead ops, repeated ops and multiplications by one", simplify},
      Pass{"schedule", "moves updates right behind their gradients", in_schedule},
  };
  return standard;
}

PipelineResult run_passes(Graph graph, std::span<const Pass> passes,
                          std::span<const std::string> leave_out) {
  check_names(leave_out, passes);
  verify(graph, "graph before the passes");
  PipelineResult result{std::move(graph), {}};
  for (const Pass& pass : passes) {
    if (std::find(leave_out.begin(), leave_out.end(), pass.name) != leave_out.end()) continue;
    const auto start = std::chrono::steady_clock::now();
    auto [changed, notes] = run_named(pass, result.graph);
    const auto time = std::chrono::steady_clock::now() - start;
    verify(changed, pass.name);
    result.reports.push_back({.name = std::string(pass.name),
                              .ops_before = result.graph.ops().size(),
                              .ops_after = changed.ops().size(),
                              .intermediate_bytes_removed =
                                  intermediate_bytes(result.graph) - intermediate_bytes(changed),
                              .time = time,
                              .notes = std::move(notes)});
    result.graph = std::move(changed);
  }
  return result;
}

}  // namespace stepscope
