// layout: walks the ops and gives each what the backend wants. A value is reordered once for each
// layout that it is wanted in, always from the layout it was made in.
// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/layout.h"

#include <map>
#include <utility>

#include "graph/passes/fusion.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

class Layouts {
 public:
  Layouts(const Graph& from, LayoutChooser& chooser)
      : from_(from), chooser_(chooser), made_(from.values().size()) {}

  PassResult run() {
    for (const ValueId id : from_.ids()) {
      const Value& value = from_.value(id);
      if (value.sharing != Sharing::own || value.producer >= 0) continue;
      made_[at(id)] = to_.declare(value.role, value.type, value.name);
    }
    for (const Op& op : from_.ops()) copy(op);
    for (const ValueId id : from_.ids()) {
      const Value& value = from_.value(id);
      if (!value.kept) continue;
      if (value.producer >= 0)
        to_.enter(from_.ops()[static_cast<std::size_t>(value.producer)].phases);
      to_.keep(in_layout(id, LayoutId::row_major), value.name);
    }
    if (reorders_ == 0 && !chose_) return {from_, {"the backend wants all values as they are"}};
    return {std::move(to_), {fmt::format("{} values are reordered", reorders_)}};
  }

 private:
  static std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

  // The value as it was made; a view shows a row-major value.
  ValueId made(ValueId id) {
    ValueId& known = made_[at(id)];
    if (!known.valid()) {
      const Value& value = from_.value(id);
      check(value.sharing == Sharing::view, Fault::bad_graph, "{} is used before it is made",
            from_.label(id));
      known = to_.reshape(in_layout(from_.source(id), LayoutId::row_major), value.type.shape);
      carry_name(id, known);
    }
    return known;
  }

  // Of values that are not kept: those are named where they are row-major.
  void carry_name(ValueId from_value, ValueId to_value) {
    const Value& value = from_.value(from_value);
    if (value.kept || value.name.empty() || to_.find(value.name)) return;
    to_.rename(to_value, value.name);
  }

  ValueId in_layout(ValueId id, LayoutId layout) {
    const ValueId original = made(id);
    if (to_.type(original).layout == layout) return original;
    const auto [known, is_new] = reordered_.try_emplace({id, layout});
    if (is_new) {
      known->second = to_.apply1(OpKind::Reorder, {original}, ReorderAttrs{layout});
      ++reorders_;
    }
    return known->second;
  }

  void copy(const Op& op) {
    to_.enter(op.phases);  // of the reorders for this op as well
    std::vector<TensorType> types;
    types.reserve(op.inputs.size());
    for (const ValueId id : op.inputs) types.push_back(to_.type(made(id)));
    LayoutChoice choice = chooser_.choose({op.kind, op.attrs, types});
    check(choice.in.size() == op.inputs.size(), Fault::bad_graph,
          "{} has {} inputs, the backend chose layouts for {}", name(op.kind), op.inputs.size(),
          choice.in.size());
    std::vector<ValueId> inputs;
    inputs.reserve(op.inputs.size());
    for (std::size_t k = 0; k < op.inputs.size(); ++k) {
      const ValueId id = op.inputs[k];
      // What an op saved is in a format of its own: nobody else can reorder it.
      const bool saved = from_.value(id).role == Role::saved;
      inputs.push_back(saved ? made(id) : in_layout(id, choice.in[k]));
    }
    chose_ = chose_ || choice.attrs != op.attrs;
    const std::vector<ValueId> outputs =
        to_.apply(op.kind, std::move(inputs), std::move(choice.attrs));
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      made_[at(op.outputs[k])] = outputs[k];
      carry_name(op.outputs[k], outputs[k]);
      // Right behind its maker, so that the other layout need not live to the end.
      if (from_.value(op.outputs[k]).kept) (void)in_layout(op.outputs[k], LayoutId::row_major);
    }
  }

  const Graph& from_;
  LayoutChooser& chooser_;
  Graph to_;
  std::vector<ValueId> made_;  // per value of from_, in the layout it was made in
  std::map<std::pair<ValueId, LayoutId>, ValueId> reordered_;
  std::size_t reorders_ = 0;
  bool chose_ = false;  // other attributes than an op had
};

}  // namespace

Pass layout_pass(const Wishes& wishes) {
  Pass pass{"layout", "values in the layouts that the backend wants", {}};
  if (wishes.layouts != nullptr) {
    pass.run = [chooser = wishes.layouts](const Graph& graph) {
      return Layouts(graph, *chooser).run();
    };
  }
  return pass;
}

}  // namespace stepscope
