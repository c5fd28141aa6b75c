// What tests of fusion passes share: a pass run and verified, ops by kind, notes as one text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "graph/passes/fusion.h"
#include "ops/ir/build.h"
#include "ops/ir/op_def.h"
#include "ops/ir/print.h"
#include "ops/ir/verify.h"

namespace stepscope::test {

// The pass on a lawful graph; what it leaves is lawful, too.
inline PassResult run_pass(PassResult (*pass)(const Graph&), const Graph& graph) {
  verify(graph, "test");
  PassResult result = pass(graph);
  verify(result.graph, "pass");
  return result;
}

inline std::string notes_of(const PassResult& result) {
  return fmt::format("{}", fmt::join(result.notes, "\n"));
}

inline std::vector<OpKind> kinds_of(const Graph& graph) {
  std::vector<OpKind> kinds;
  for (const Op& op : graph.ops()) kinds.push_back(op.kind);
  return kinds;
}

inline std::ptrdiff_t count(const Graph& graph, OpKind kind) {
  return std::count_if(graph.ops().begin(), graph.ops().end(),
                       [&](const Op& op) { return op.kind == kind; });
}

// The op of that kind, counted from zero. Requires: there is one.
inline const Op& op_of(const Graph& graph, OpKind kind, int which = 0) {
  return *std::find_if(graph.ops().begin(), graph.ops().end(),
                       [&](const Op& op) { return op.kind == kind && which-- == 0; });
}

// Expects the pass to leave the graph as it is, and to say why.
inline void expect_unchanged(PassResult (*pass)(const Graph&), const Graph& graph,
                             const std::string& why) {
  const PassResult result = run_pass(pass, graph);
  EXPECT_EQ(to_text(result.graph), to_text(graph));
  EXPECT_EQ(notes_of(result), why);
}

}  // namespace stepscope::test
