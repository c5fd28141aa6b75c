// Lifetimes: from the op that makes a storage to the last that reads it, views included.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/plan/plan.h"

namespace stepscope {

std::vector<Lifetime> lifetimes(const Graph& graph) {
  const std::span<const Value> values = graph.values();
  const auto last_op = static_cast<std::int32_t>(graph.ops().size()) - 1;
  std::vector<Lifetime> result(values.size());
  const auto of_storage = [&](ValueId id) -> Lifetime& {
    return result[static_cast<std::size_t>(graph.storage(id).index)];
  };

  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int32_t maker = values[i].producer;
    result[i] = maker < 0 ? Lifetime{0, last_op} : Lifetime{maker, maker};
  }
  for (std::int32_t op = 0; op <= last_op; ++op) {
    for (const ValueId id : graph.ops()[static_cast<std::size_t>(op)].inputs) {
      of_storage(id).last = std::max(of_storage(id).last, op);
    }
  }
  for (const ValueId id : graph.ids()) {
    if (graph.value(id).kept) of_storage(id).last = last_op;
  }
  for (const ValueId id : graph.ids()) result[static_cast<std::size_t>(id.index)] = of_storage(id);
  return result;
}

}  // namespace stepscope
