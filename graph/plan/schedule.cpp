// The schedule: a sort by where each op may stand at the earliest.
// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/schedule.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "ops/ir/op_def.h"

namespace stepscope {
namespace {

constexpr std::int64_t kFront = -1;  // before the first op

// An op that overwrites a parameter or state may move, and so may the rate that updates wait for;
// the counter of the step ends the updates, and stateful ops stay where they were put.
bool moves(const Graph& graph, const Op& op) {
  bool may_move = op.kind == OpKind::ScheduledRate;
  for (const ValueId id : op.outputs) {
    if (graph.value(id).sharing != Sharing::overwrite) continue;
    if (graph.value(graph.storage(id)).name == kStepCount) return false;
    may_move = true;
  }
  return may_move && !op_def(op.kind).stateful;
}

}  // namespace

std::vector<std::size_t> schedule(const Graph& graph) {
  const std::span<const Op> ops = graph.ops();
  // Per op: the unmoved op it stands at or behind. Ops behind the same one keep their order, so an
  // update that reads what another wrote stays behind it.
  std::vector<std::int64_t> anchor(ops.size());
  // Per storage: the latest anchor among the ops so far that write or read it.
  std::vector<std::int64_t> written(graph.values().size(), kFront);
  std::vector<std::int64_t> touched(graph.values().size(), kFront);
  const auto storage = [&](ValueId id) {
    return static_cast<std::size_t>(graph.storage(id).index);
  };

  for (std::size_t i = 0; i < ops.size(); ++i) {
    anchor[i] = static_cast<std::int64_t>(i);
    if (moves(graph, ops[i])) {
      anchor[i] = kFront;
      for (const ValueId id : ops[i].inputs) anchor[i] = std::max(anchor[i], written[storage(id)]);
      for (const ValueId id : ops[i].outputs) anchor[i] = std::max(anchor[i], touched[storage(id)]);
    }
    for (const ValueId id : ops[i].outputs) {
      written[storage(id)] = std::max(written[storage(id)], anchor[i]);
      touched[storage(id)] = std::max(touched[storage(id)], anchor[i]);
    }
    for (const ValueId id : ops[i].inputs) {
      touched[storage(id)] = std::max(touched[storage(id)], anchor[i]);
    }
  }
  std::vector<std::size_t> order(ops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return anchor[a] < anchor[b]; });
  return order;
}

}  // namespace stepscope
