// multi_tensor: updates of one kind, with the same settings, rate and element type, become one
// update of several tensors, where the last of them was. An update whose result is read before
// that, or that reads what another of them overwrites, stays where it is.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "graph/passes/fusion.h"
#include "graph/passes/rewrite.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

// Per tensor: operands (parameter, gradient, states) and results (parameter, states).
struct Form {
  std::size_t operands = 0, results = 0;
};

std::optional<Form> form_of(OpKind kind) {
  switch (kind) {
    case OpKind::SgdUpdate:
      return Form{2, 1};
    case OpKind::MomentumUpdate:
      return Form{3, 2};
    case OpKind::AdamUpdate:
      return Form{4, 3};
    default:
      return std::nullopt;
  }
}

// What updates have besides their own settings.
struct Shared {
  std::int64_t tensors = 1;
  bool advance_step = false;
};

template <class Change>
void with_shared(Attrs& attrs, Change&& change) {
  if (auto* sgd = std::get_if<SgdAttrs>(&attrs)) change(sgd->tensors, sgd->advance_step);
  if (auto* momentum = std::get_if<MomentumAttrs>(&attrs)) {
    change(momentum->tensors, momentum->advance_step);
  }
  if (auto* adam = std::get_if<AdamAttrs>(&attrs)) change(adam->tensors, adam->advance_step);
}

Shared shared_of(Attrs attrs) {
  Shared shared;
  with_shared(attrs, [&](std::int64_t tensors, bool advance) { shared = {tensors, advance}; });
  return shared;
}

Attrs with(Attrs attrs, Shared shared) {
  with_shared(attrs, [&](std::int64_t& tensors, bool& advance) {
    tensors = shared.tensors;
    advance = shared.advance_step;
  });
  return attrs;
}

bool takes_rate(const Op& op) {
  const auto* sgd = std::get_if<SgdAttrs>(&op.attrs);
  return sgd == nullptr || !sgd->scaled_gradient;
}

// Updates with equal keys may be one: kind, element type, rate, settings.
using Key = std::vector<std::uint64_t>;

Key key_of(const Graph& graph, const Op& op, const Form& form) {
  std::array<std::uint64_t, kMaxAttrWords> words{};
  const Attrs attrs = with(op.attrs, {});
  const ValueId rate = takes_rate(op) ? op.inputs[form.operands] : ValueId{};
  Key key = {static_cast<std::uint64_t>(op.kind),
             static_cast<std::uint64_t>(graph.type(op.inputs[0]).dtype),
             static_cast<std::uint64_t>(rate.index)};
  key.insert(key.end(), words.data(), pack(attrs, words.data()));
  return key;
}

class Merge {
 public:
  explicit Merge(const Graph& graph) : rewrite_(graph) {}

  PassResult run() {
    std::map<Key, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < graph().ops().size(); ++i) {
      const Op& op = graph().ops()[i];
      const std::optional<Form> form = form_of(op.kind);
      if (!form || shared_of(op.attrs).tensors != 1) continue;
      groups[key_of(graph(), op, *form)].push_back(i);
    }
    for (const auto& [key, group] : groups) merge(group);
    return rewrite_.finish("no two updates are of one kind, rate, element type and settings");
  }

 private:
  const Graph& graph() const { return rewrite_.graph(); }

  // Why the update cannot wait until op `last`; empty: it can. That the last one counts the step
  // is no reason: as one op they read the count before.
  std::string why_not_at(std::size_t update, std::size_t last) const {
    const Op& op = graph().ops()[update];
    for (const ValueId id : op.inputs) {
      const bool step = graph().value(graph().storage(id)).name == kStepCount;
      if (rewrite_.uses().overwritten(id, static_cast<std::int64_t>(update),
                                      step ? last - 1 : last)) {
        return fmt::format("{} is overwritten before the last", graph().label(id));
      }
    }
    for (const ValueId id : op.outputs) {
      const std::vector<std::size_t>& readers = rewrite_.uses().readers(id);
      if (!readers.empty() && readers.front() <= last) {
        return fmt::format("the new {} is read before the last",
                           graph().label(graph().storage(id)));
      }
    }
    return {};
  }

  void merge(std::vector<std::size_t> group) {
    const std::size_t last = group.back();
    std::erase_if(group, [&](std::size_t update) {
      const std::string reason = update == last ? "" : why_not_at(update, last);
      if (!reason.empty()) {
        const ValueId parameter = graph().storage(graph().ops()[update].inputs[0]);
        rewrite_.note(fmt::format("the update of {} stays: {}", graph().label(parameter), reason));
      }
      return !reason.empty();
    });
    if (group.size() < 2) return;
    const std::size_t most = most_tensors(graph().ops()[last]);
    const std::size_t parts = (group.size() + most - 1) / most;
    for (std::size_t part = 0; part < parts; ++part) {
      const auto begin = group.begin() + static_cast<std::ptrdiff_t>(group.size() * part / parts);
      const auto end =
          group.begin() + static_cast<std::ptrdiff_t>(group.size() * (part + 1) / parts);
      put(std::vector<std::size_t>(begin, end));
    }
  }

  // Rate and step count are operands, too, and the new step count is a result.
  static std::size_t most_tensors(const Op& op) {
    const Form form = *form_of(op.kind);
    return std::min((kMaxInputs - 2) / form.operands, (kMaxOutputs - 1) / form.results);
  }

  void put(const std::vector<std::size_t>& updates) {
    if (updates.size() < 2) return;
    const Op& last = graph().ops()[updates.back()];
    const Form form = *form_of(last.kind);
    const bool advance = shared_of(last.attrs).advance_step;
    NewOp made{.kind = last.kind,
               .attrs = with(last.attrs, {static_cast<std::int64_t>(updates.size()), advance}),
               .phases = rewrite_.phases(updates)};
    for (std::size_t k = 0; k < form.operands; ++k) {
      for (const std::size_t i : updates) made.inputs.push_back(graph().ops()[i].inputs[k]);
    }
    made.inputs.insert(made.inputs.end(),
                       last.inputs.begin() + static_cast<std::ptrdiff_t>(form.operands),
                       last.inputs.end());
    for (std::size_t k = 0; k < form.results; ++k) {
      for (const std::size_t i : updates) made.outputs.push_back(graph().ops()[i].outputs[k]);
    }
    if (advance) made.outputs.push_back(last.outputs[form.results]);
    for (const std::size_t i : updates) rewrite_.remove(i);
    rewrite_.put(updates.back(), std::move(made));
  }

  Rewrite rewrite_;
};

}  // namespace

PassResult fuse_multi_tensor(const Graph& graph) { return Merge(graph).run(); }

}  // namespace stepscope
