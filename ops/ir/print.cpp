// Text and DOT of a graph.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/print.h"

#include <fmt/format.h>

#include <vector>

#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

// How an operand is written: its name or %index, a view as what it shows, under the view's shape.
std::string ref(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  if (value.sharing == Sharing::view) {
    return fmt::format("{}{}", graph.label(graph.source(id)), to_string(value.type.shape));
  }
  return graph.label(id);
}

std::string op_line(const Graph& graph, const Op& op) {
  std::string left;
  for (const ValueId id : op.outputs) {
    const Value& value = graph.value(id);
    left +=
        fmt::format("{}{} : {}", left.empty() ? "" : ", ", graph.label(id), to_string(value.type));
    if (value.sharing == Sharing::overwrite) left += " -> " + graph.label(value.storage);
  }
  std::string right;
  for (const ValueId id : op.inputs) {
    right += fmt::format("{}{}", right.empty() ? "" : ", ", ref(graph, id));
  }
  const std::string attrs = to_string(op.attrs);
  const std::string line =
      fmt::format("{} = {}({}){}", left, name(op.kind), right,
                  attrs.empty() ? std::string() : fmt::format(" {{{}}}", attrs));
  return fmt::format("{:<84} # {}\n", line, to_string(op.phases));
}

std::string_view colour(PhaseSet phases) {
  if (phases.contains(Phase::update)) return "#f6d5a8";
  if (phases.contains(Phase::backward)) return "#d9c7ee";
  if (phases.contains(Phase::loss)) return "#f2b8b5";
  return "#bfe0c5";
}

// The node that a value comes from.
std::string origin(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  return value.producer >= 0 ? fmt::format("op{}", value.producer)
                             : fmt::format("v{}", value.storage.index);
}

}  // namespace

std::string to_text(const Graph& graph) {
  std::string text;
  for (const ValueId id : graph.ids()) {
    const Value& value = graph.value(id);
    if (value.producer >= 0 || value.sharing != Sharing::own) continue;
    text += fmt::format("{} {} : {}\n", name(value.role), value.name, to_string(value.type));
  }
  for (const Op& op : graph.ops()) text += op_line(graph, op);
  for (const ValueId id : graph.ids()) {
    const Value& value = graph.value(id);
    if (!value.kept) continue;
    const bool is_view = value.sharing == Sharing::view;  // has no line of its own
    text += is_view ? fmt::format("keep {} = {}\n", graph.label(id), ref(graph, id))
                    : fmt::format("keep {}\n", graph.label(id));
  }
  return text;
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
                       name(op.kind), colour(op.phases));
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
