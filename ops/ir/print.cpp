// Text of a graph and of a step file, written by the same code.
// SPDX-License-Identifier: Apache-2.0
#include "ops/ir/print.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "ops/base/check.h"
#include "ops/ir/lexer.h"
#include "ops/ir/op_def.h"
#include "ops/ir/step_file.h"

namespace stepscope {
namespace {

std::string text_of(const InitialText& initial, const TypeText& type, std::string_view who) {
  switch (initial.kind) {
    case InitialText::Kind::zeros:
      return "zeros";
    case InitialText::Kind::constant:
      return fmt::format("constant({})", initial.value);
    case InitialText::Kind::he:
      return initial.fan_in == fan_in_of(shape_value(type.dims, std::nullopt, who))
                 ? std::string("he")
                 : fmt::format("he({})", initial.fan_in);
    case InitialText::Kind::uniform:
      return fmt::format("uniform({}, {})", initial.low, initial.high);
    case InitialText::Kind::file:
      return fmt::format("file({}, {})", quoted(initial.file), quoted(initial.tensor));
  }
  return "?";
}

std::string text_of(const OperandText& operand) {
  return operand.shape ? operand.name + to_string(*operand.shape) : operand.name;
}

std::string text_of(const OutputText& output) {
  std::string text = output.name;
  if (output.type) text += fmt::format(" : {}", to_string(*output.type));
  if (!output.overwrites.empty()) text += fmt::format(" -> {}", output.overwrites);
  return text;
}

template <class Item>
std::string joined(const std::vector<Item>& items) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "" : ", ") + text_of(item);
  return text;
}

std::string line_of(const CallText& call) {
  const std::string attrs = to_string(call.attrs, call.symbolic);
  const std::string line =
      fmt::format("{} = {}({}){}", joined(call.outputs), name(call.kind), joined(call.inputs),
                  attrs.empty() ? std::string() : fmt::format(" {{{}}}", attrs));
  return fmt::format("{:<84} @ {}\n", line, to_string(call.phases));
}

std::string line_of(const ViewText& view) {
  return fmt::format("{} = {}\n", text_of(view.view), text_of(view.shown));
}

// ---- From a graph.

std::vector<Expression> dims_of(const Shape& shape) {
  return type_text_of({shape, DType::f32}).dims;
}

// A view under its own name where it has one, else as what it shows, under its shape.
OperandText operand_of(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  if (value.sharing != Sharing::view || !value.name.empty()) {
    return {graph.label(id), std::nullopt, {}};
  }
  return {graph.label(graph.source(id)), dims_of(value.type.shape), {}};
}

CallText call_of(const Graph& graph, const Op& op) {
  CallText call{op.kind, op.attrs, {}, {}, {}, op.phases, {}};
  for (const ValueId id : op.inputs) call.inputs.push_back(operand_of(graph, id));
  for (const ValueId id : op.outputs) {
    const Value& value = graph.value(id);
    const bool overwrites = value.sharing == Sharing::overwrite;
    call.outputs.push_back({graph.label(id),
                            type_text_of(value.type),
                            overwrites ? graph.label(value.storage) : std::string(),
                            {}});
  }
  return call;
}

// Views without a name come last, each once, in an order of their own: when they were made does not
// show in the text.
void append_kept(const Graph& graph, StepFile& file) {
  std::map<std::string, OperandText> views;
  for (const ValueId id : graph.ids()) {
    if (!graph.value(id).kept) continue;
    OperandText kept = operand_of(graph, id);
    if (kept.shape) {
      std::string text = text_of(kept);
      views.try_emplace(std::move(text), std::move(kept));
    } else {
      file.kept.push_back(std::move(kept));
    }
  }
  for (auto& [text, kept] : views) file.kept.push_back(std::move(kept));
}

}  // namespace

std::string_view name(InitialText::Kind kind) {
  switch (kind) {
    case InitialText::Kind::zeros:
      return "zeros";
    case InitialText::Kind::constant:
      return "constant";
    case InitialText::Kind::he:
      return "he";
    case InitialText::Kind::uniform:
      return "uniform";
    case InitialText::Kind::file:
      return "file";
  }
  return "?";
}

std::int64_t fan_in_of(const Shape& shape) {
  if (shape.rank() == 2) return shape[0];
  if (shape.rank() == 4) return shape[1] * shape[2] * shape[3];
  return 0;
}

StepFile to_step_file(const Graph& graph) {
  StepFile file;
  file.who = "graph";
  // Named views stand where they were made: behind what they show, before who reads them.
  std::vector<ValueId> views;
  for (const ValueId id : graph.ids()) {
    const Value& value = graph.value(id);
    if (value.sharing == Sharing::view && !value.name.empty()) views.push_back(id);
    if (value.producer >= 0 || value.sharing != Sharing::own) continue;
    file.declarations.push_back({value.role, value.name, type_text_of(value.type), {}, {}});
  }
  auto view = views.begin();
  const auto append_views_before = [&](std::int32_t index) {
    for (; view != views.end() && view->index < index; ++view) {
      const ValueId source = graph.source(*view);
      file.lines.emplace_back(
          ViewText{{graph.label(*view), {}, {}, {}},
                   {graph.label(source), dims_of(graph.type(*view).shape), {}}});
    }
  };
  for (const Op& op : graph.ops()) {
    if (!op.outputs.empty()) append_views_before(op.outputs.front().index);
    file.lines.emplace_back(call_of(graph, op));
  }
  append_views_before(static_cast<std::int32_t>(graph.values().size()));
  append_kept(graph, file);
  return file;
}

std::string to_text(const StepFile& file) {
  std::string text = fmt::format("{}\n", kStepFileHeader);
  for (const DeclarationText& each : file.declarations) {
    text += fmt::format("{} {} : {}", name(each.role), each.name, to_string(each.type));
    if (each.initial) {
      text += fmt::format(" = {}", text_of(*each.initial, each.type, file.who));
    }
    text += '\n';
  }
  for (const auto& line : file.lines) {
    text += std::visit([](const auto& each) { return line_of(each); }, line);
  }
  for (const OperandText& each : file.kept) text += fmt::format("keep {}\n", text_of(each));
  return text;
}

std::string to_text(const Graph& graph) { return to_text(to_step_file(graph)); }

}  // namespace stepscope
