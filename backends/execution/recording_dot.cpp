// DOT of a recording.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/recording_dot.h"

#include <vector>

#include "ops/base/check.h"
#include "ops/ir/op_def.h"
#include "ops/ir/print.h"

namespace stepscope {
namespace {

constexpr std::string_view kCopyColour = "#d0d7de";

std::string_view text_of(std::optional<CallBy> by) {
  if (!by) return "";
  return *by == CallBy::own ? "own: " : "library: ";
}

std::string box(std::size_t index, const RecordedNode& node, const Graph& graph) {
  if (!node.op) {
    return fmt::format("  n{} [label=\"{}\\n{}\", fillcolor=\"{}\"];\n", index,
                       name(Phase::input_copy), node.what, kCopyColour);
  }
  check(*node.op < graph.ops().size(), Fault::bad_input,
        "dot: a node of the recording is of op {}, the graph has {}", *node.op, graph.ops().size());
  const Op& op = graph.ops()[*node.op];
  return fmt::format("  n{} [label=\"op {} {}\\n{}\\n{}{}\", fillcolor=\"{}\"];\n", index, *node.op,
                     name(op.kind), to_string(op.phases), text_of(node.by), node.what,
                     phase_colour(op.phases));
}

}  // namespace

std::string to_dot(const Recording& recording, const Graph& graph, std::string_view label) {
  std::string dot =
      "digraph recording {\n  rankdir=TB;\n"
      "  node [fontname=\"sans-serif\", fontsize=11, shape=box, style=filled];\n";
  if (!label.empty()) {
    dot += fmt::format("  labelloc=t; fontname=\"sans-serif\"; label=\"{}\";\n", label);
  }
  const std::vector<RecordedNode> nodes = recording.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) dot += box(i, nodes[i], graph);
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    dot += fmt::format("  n{} -> n{};\n", i - 1, i);
  }
  return dot + "}\n";
}

}  // namespace stepscope
