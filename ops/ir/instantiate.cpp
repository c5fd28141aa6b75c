// A step file at one batch: every statement as a call of Graph, its errors with their place.
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <unordered_map>

#include "ops/base/check.h"
#include "ops/ir/op_def.h"
#include "ops/ir/step_file.h"
#include "ops/ir/verify.h"

namespace stepscope {
namespace {

class Instance {
 public:
  Instance(const StepFile& file, std::int64_t batch) : file_(file), batch_(batch) {}

  Graph run() {
    for (const DeclarationText& each : file_.declarations) declare(each);
    for (const auto& line : file_.lines) {
      if (const auto* called = std::get_if<CallText>(&line)) {
        call(*called);
      } else {
        view(std::get<ViewText>(line));
      }
    }
    for (const OperandText& each : file_.kept) keep(each);
    try {
      verify(graph_, file_.who);
    } catch (const Error& error) {
      fail(Fault::bad_input, "{}", error.what());
    }
    return std::move(graph_);
  }

 private:
  template <class Action>
  auto placed(Place place, Action&& action) {
    try {
      return action();
    } catch (const Error& error) {
      fail_at(file_.who, place, error.what());
    }
  }

  TensorType type_of(const TypeText& type) const { return type_value(type, batch_, file_.who); }

  void declare(const DeclarationText& text) {
    const TensorType type = type_of(text.type);
    values_[text.name] =
        placed(text.place, [&] { return graph_.declare(text.role, type, text.name); });
  }

  // A view that has no name: one for all who read it under that shape.
  ValueId shown_as(ValueId source, const Shape& shape, Place place) {
    const std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
    const auto [known, is_new] = views_.try_emplace({source, dims});
    if (is_new) known->second = placed(place, [&] { return graph_.reshape(source, shape); });
    return known->second;
  }

  ValueId operand(const OperandText& text) {
    const auto found = values_.find(text.name);
    if (found == values_.end()) {
      fail_at(file_.who, text.place, fmt::format("there is no value '{}'", text.name));
    }
    if (!text.shape) return found->second;
    return shown_as(found->second, shape_value(*text.shape, batch_, file_.who), text.place);
  }

  void call(const CallText& text) {
    std::vector<ValueId> inputs;
    inputs.reserve(text.inputs.size());
    for (const OperandText& each : text.inputs) inputs.push_back(operand(each));
    Attrs attrs = text.attrs;
    if (!text.symbolic.empty()) {
      read_attrs(attrs, text.symbolic, name(text.kind), batch_, file_.who);
    }
    graph_.enter(text.phases);
    const std::vector<ValueId> outputs = placed(
        text.place, [&] { return graph_.apply(text.kind, std::move(inputs), std::move(attrs)); });
    if (outputs.size() != text.outputs.size()) {
      fail_at(file_.who, text.place,
              fmt::format("{} makes {} values, {} are named", name(text.kind), outputs.size(),
                          text.outputs.size()));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) result(text.outputs[i], outputs[i]);
  }

  // Names what was made and checks what is written of it.
  void result(const OutputText& text, ValueId made) {
    if (text.type && type_of(*text.type) != graph_.type(made)) {
      fail_at(file_.who, text.place,
              fmt::format("{} is {}, expected {} as written", text.name,
                          to_string(graph_.type(made)), to_string(type_of(*text.type))));
    }
    if (!text.overwrites.empty()) {
      const Value& value = graph_.value(made);
      const std::string target = value.sharing == Sharing::overwrite ? graph_.label(value.storage)
                                                                     : std::string("nothing");
      if (target != text.overwrites) {
        fail_at(file_.who, text.place,
                fmt::format("{} overwrites {}, expected {} as written", text.name, target,
                            text.overwrites));
      }
    }
    values_[text.name] = made;
    if (!text.name.starts_with('%')) {
      placed(text.place, [&] { return graph_.rename(made, text.name), 0; });
    }
  }

  void view(const ViewText& text) {
    const Shape shape = shape_value(*text.shown.shape, batch_, file_.who);
    OperandText source = text.shown;
    source.shape.reset();
    const ValueId from = operand(source);
    const bool unnamed = text.view.name.starts_with('%');
    result(text.view, unnamed
                          ? shown_as(from, shape, text.shown.place)
                          : placed(text.shown.place, [&] { return graph_.reshape(from, shape); }));
  }

  void keep(const OperandText& text) {
    const ValueId kept = operand(text);
    placed(text.place, [&] { return graph_.keep(kept), 0; });
  }

  const StepFile& file_;
  std::int64_t batch_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> values_;
  std::map<std::pair<ValueId, std::vector<std::int64_t>>, ValueId> views_;
};

}  // namespace

Graph instantiate(const StepFile& file, std::int64_t batch) {
  check(batch >= 1 && batch <= kMostBatch, Fault::bad_input, "{}: a batch of {}, expected 1 to {}",
        file.who, batch, kMostBatch);
  return Instance(file, batch).run();
}

}  // namespace stepscope
