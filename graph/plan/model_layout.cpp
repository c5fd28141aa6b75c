// The model segment: one entry for each declared name, in order of first mention.
// SPDX-License-Identifier: Apache-2.0
#include "graph/plan/model_layout.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "ops/base/check.h"

namespace stepscope {
namespace {

// What a second graph says of a name must agree with what the first said; inputs may differ in
// shape, since the last batch of an epoch is smaller.
void merge(ModelLayout::Entry& entry, const Value& value) {
  check(entry.role == value.role, Fault::bad_graph,
        "model layout: '{}' is {} in one graph, {} in another", value.name, name(entry.role),
        name(value.role));
  const bool agrees =
      value.role == Role::input ? entry.type.dtype == value.type.dtype : entry.type == value.type;
  check(agrees, Fault::bad_graph, "model layout: {} '{}' is {} in one graph, {} in another",
        name(value.role), value.name, to_string(entry.type), to_string(value.type));
  if (value.type.bytes() > entry.bytes) entry.type = value.type;
  entry.bytes = std::max(entry.bytes, value.type.bytes());
}

}  // namespace

ModelLayout::ModelLayout(std::span<const Graph* const> graphs, std::size_t alignment) {
  check(std::has_single_bit(alignment), Fault::bad_graph,
        "model layout: the alignment must be a power of two, got {}", alignment);
  std::vector<Entry*> order;  // map nodes do not move
  for (const Graph* graph : graphs) {
    for (const Value& value : graph->values()) {
      if (value.producer >= 0 || value.sharing != Sharing::own) continue;
      const auto [at, is_new] = entries_.try_emplace(
          value.name, Entry{.role = value.role, .type = value.type, .bytes = value.type.bytes()});
      if (is_new) order.push_back(&at->second);
      merge(at->second, value);
    }
  }
  for (Entry* entry : order) {
    entry->offset = bytes_;
    bytes_ += round_up(entry->bytes, alignment);
  }
}

const ModelLayout::Entry& ModelLayout::at(std::string_view name) const {
  const auto found = entries_.find(name);
  check(found != entries_.end(), Fault::bad_graph, "model layout: there is no '{}' in it", name);
  return found->second;
}

}  // namespace stepscope
