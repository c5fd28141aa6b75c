// ModelLayout: offsets of inputs, parameters and states in the model segment, by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "ops/ir/graph.h"

namespace stepscope {

class ModelLayout {
 public:
  struct Entry {
    Role role{};
    TensorType type;  // of an input: the largest seen
    std::size_t offset = 0;
    std::size_t bytes = 0;  // unrounded; of an input: the most that any graph needs
  };

  // Lays out what the graphs declare, in the order they declare it; what several declare is shared.
  // Throws bad_graph, with the name and both types, when a parameter or state has two types, an
  // input two element types, or a name two roles; also when `alignment` is no power of two.
  ModelLayout(std::span<const Graph* const> graphs, std::size_t alignment);

  // Throws bad_graph when there is no such name.
  const Entry& at(std::string_view name) const;
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }
  std::size_t bytes() const { return bytes_; }  // of the whole segment, rounded up

 private:
  std::map<std::string, Entry, std::less<>> entries_;
  std::size_t bytes_ = 0;
};

// Bytes rounded up to a multiple of `alignment`, a power of two.
constexpr std::size_t round_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) & ~(alignment - 1);
}

}  // namespace stepscope
