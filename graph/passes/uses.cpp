// Uses: one walk over the ops, one over the values.
// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/uses.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepscope {

Uses::Uses(const Graph& graph)
    : graph_(graph),
      readers_(graph.values().size()),
      kept_(graph.values().size()),
      overwriters_(graph.values().size()) {
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    for (const ValueId id : op.inputs) readers_[source(id)].push_back(i);
    for (const ValueId id : op.outputs) {
      if (graph.value(id).sharing != Sharing::overwrite) continue;
      overwriters_[static_cast<std::size_t>(graph.storage(id).index)].push_back(i);
    }
  }
  for (const ValueId id : graph.ids()) {
    if (graph.value(id).kept) kept_[source(id)] = true;
  }
}

std::optional<std::size_t> Uses::maker(ValueId id) const {
  const Value& value = graph_.value(id);
  if (value.sharing == Sharing::view || value.producer < 0) return std::nullopt;
  return static_cast<std::size_t>(value.producer);
}

bool Uses::overwritten(ValueId id, std::int64_t after, std::size_t last) const {
  const auto& all = overwriters_[static_cast<std::size_t>(graph_.storage(id).index)];
  return std::any_of(all.begin(), all.end(), [&](std::size_t op) {
    return static_cast<std::int64_t>(op) > after && op <= last;
  });
}

std::string Uses::why_not_inside(ValueId id) const {
  if (kept(id)) return fmt::format("{} is kept", graph_.label(id));
  const std::size_t count = readers(id).size();
  return count == 1 ? "" : fmt::format("{} has {} readers", graph_.label(id), count);
}

}  // namespace stepscope
