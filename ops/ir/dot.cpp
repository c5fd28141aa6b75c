// DOT of a graph.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ops/ir/op_def.h"
#include "ops/ir/print.h"

namespace stepscope {
namespace {

// The node that a value comes from.
std::string origin(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  return value.producer >= 0 ? fmt::format("op{}", value.producer)
                             : fmt::format("v{}", value.storage.index);
}

}  // namespace

std::string_view phase_colour(PhaseSet phases) {
  if (phases.contains(Phase::update)) return "#f6d5a8";
  if (phases.contains(Phase::backward)) return "#d9c7ee";
  if (phases.contains(Phase::loss)) return "#f2b8b5";
  return "#bfe0c5";
}

std::string to_dot(const Graph& graph) {
  std::string dot =
      "digraph step {\n  rankdir=TB;\n  node [fontname=\"sans-serif\", fontsize=11];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9];\n";
  for (const ValueId id : graph.ids()) {
    const Value& value = graph.value(id);
    if (value.producer >= 0 || value.sharing != Sharing::own) continue;
    dot += fmt::format("  v{} [label=\"{}\\n{}\", shape=ellipse];\n", id.index, value.name,
                       to_string(value.type));
  }
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    dot += fmt::format("  op{} [label=\"{}\", shape=box, style=filled, fillcolor=\"{}\"];\n", i,
                       name(op.kind), phase_colour(op.phases));
    for (const ValueId id : op.inputs) {
      dot += fmt::format("  {} -> op{} [label=\"{}\"];\n", origin(graph, id), i,
                         to_string(graph.type(id)));
    }
    for (const ValueId id : op.outputs) {
      const Value& value = graph.value(id);
      if (value.sharing == Sharing::overwrite) {
        dot += fmt::format("  op{} -> v{} [style=dashed, constraint=false];\n", i,
                           value.storage.index);
      }
    }
  }
  for (const ValueId id : graph.ids()) {
    if (!graph.value(id).kept) continue;
    dot += fmt::format("  k{} [label=\"{}\\n{}\", shape=ellipse, style=bold];\n  {} -> k{};\n",
                       id.index, graph.label(id), to_string(graph.type(id)), origin(graph, id),
                       id.index);
  }
  return dot + "}\n";
}

}  // namespace stepscope
