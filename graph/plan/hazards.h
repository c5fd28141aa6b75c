// Hazards: which op must wait for which, from the memory they touch in a plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/plan/plan.h"

namespace stepscope {

enum class Hazard : std::uint8_t { read_after_write, write_after_read, write_after_write };

struct Edge {
  std::size_t before = 0;  // op indices; before < after
  std::size_t after = 0;
  Hazard hazard{};
  friend bool operator==(const Edge&, const Edge&) = default;
};

// Every pair of ops of which one writes bytes that the other touches (slots and scratch, overlaps
// included), sorted; of several hazards between two ops the first in the order of the enum.
// Any order that keeps the edges computes the same values.
std::vector<Edge> hazards(const Plan& plan);

}  // namespace stepscope
