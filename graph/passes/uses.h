// Uses: who reads, keeps and overwrites the values of a graph. What passes ask before they move or
// merge an op.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ops/ir/graph.h"

namespace stepscope {

class Uses {
 public:
  // The graph must outlive this.
  explicit Uses(const Graph& graph);

  // Ops that read the value or a view of it, in order; one that reads it twice is there twice.
  const std::vector<std::size_t>& readers(ValueId id) const { return readers_[source(id)]; }
  // The value or a view of it can be read after the step.
  bool kept(ValueId id) const { return kept_[source(id)]; }
  // The op that makes exactly this value: none for a view or a declared value.
  std::optional<std::size_t> maker(ValueId id) const;
  // Is the storage of the value overwritten by an op behind `after` and up to `last`?
  bool overwritten(ValueId id, std::int64_t after, std::size_t last) const;

  // Why the value cannot vanish inside a fused op: it is kept, or read more than once. Empty: it
  // can, its one reader is readers(id).front().
  std::string why_not_inside(ValueId id) const;

 private:
  std::size_t source(ValueId id) const { return static_cast<std::size_t>(graph_.source(id).index); }

  const Graph& graph_;
  std::vector<std::vector<std::size_t>> readers_;      // per value that is no view
  std::vector<bool> kept_;                             // per value that is no view
  std::vector<std::vector<std::size_t>> overwriters_;  // per storage
};

}  // namespace stepscope
