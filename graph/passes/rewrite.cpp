// Rewrite: places are checked in the old order, then the ops are copied with the changes.
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/rewrite.h"

#include <algorithm>
#include <numeric>

#include "ops/base/check.h"
#include "ops/ir/copy.h"
#include "ops/ir/op_def.h"

namespace stepscope {

Rewrite::Rewrite(const Graph& graph)
    : graph_(graph),
      uses_(graph),
      gone_(graph.ops().size()),
      place_(graph.ops().size()),
      put_(graph.ops().size() + 1) {
  std::iota(place_.begin(), place_.end(), std::size_t{0});
}

PhaseSet Rewrite::phases(const std::vector<std::size_t>& ops) const {
  PhaseSet all;
  for (const std::size_t i : ops) all = all | op(i).phases;
  return all;
}

// At `place`: all inputs are made and not overwritten yet, and what is made was not read.
bool Rewrite::fits(std::size_t place, const std::vector<std::size_t>& replaced,
                   const NewOp& made) const {
  for (const ValueId id : made.inputs) {
    const std::int32_t producer = graph_.value(id).producer;
    if (producer >= 0 && place_[static_cast<std::size_t>(producer)] >= place) return false;
    if (uses_.overwritten(id, producer, place)) return false;
  }
  for (const ValueId id : made.outputs) {
    if (!id.valid()) continue;
    const std::vector<std::size_t>& readers = uses_.readers(id);
    const bool read_before = std::any_of(readers.begin(), readers.end(), [&](std::size_t reader) {
      const bool inside = std::find(replaced.begin(), replaced.end(), reader) != replaced.end();
      return !inside && place_[reader] <= place;
    });
    if (read_before) return false;
  }
  return true;
}

std::string Rewrite::replace(const std::vector<std::size_t>& replaced, NewOp made) {
  std::size_t place = replaced.back();
  if (!fits(place, replaced, made)) place = replaced.front();
  if (!fits(place, replaced, made)) {
    return fmt::format("between op {} and op {} something is overwritten or read too early",
                       replaced.front(), replaced.back());
  }
  for (const std::size_t i : replaced) {
    remove(i);
    place_[i] = place;
  }
  put(place, std::move(made));
  return {};
}

PassResult Rewrite::finish(std::string if_unchanged) {
  const bool changed = std::any_of(gone_.begin(), gone_.end(), [](bool gone) { return gone; });
  if (!changed && notes_.empty()) note(std::move(if_unchanged));
  return {changed ? build() : graph_, std::move(notes_)};
}

Graph Rewrite::build() const {
  Graph result;
  GraphCopy copy(graph_, result);
  for (std::size_t i = 0; i < put_.size(); ++i) {
    if (i < gone_.size() && !gone_[i]) copy.copy(i);
    for (const NewOp& made : put_[i]) {
      std::vector<ValueId> inputs;
      inputs.reserve(made.inputs.size());
      for (const ValueId id : made.inputs) inputs.push_back(copy(id));
      result.enter(made.phases);
      const std::vector<ValueId> outputs = result.apply(made.kind, std::move(inputs), made.attrs);
      check(outputs.size() == made.outputs.size(), Fault::bad_graph,
            "rewrite: {} has {} outputs, {} were expected", name(made.kind), outputs.size(),
            made.outputs.size());
      for (std::size_t k = 0; k < outputs.size(); ++k) {
        if (made.outputs[k].valid()) copy.map(made.outputs[k], outputs[k]);
      }
    }
  }
  copy.finish();
  return result;
}

}  // namespace stepscope
