// Independent checks of memory plans, by brute force: they share no code with graph/plan and read
// nothing of a plan but its slots.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "graph/plan/plan.h"

namespace stepscope::test {

// Runs the plan on paper: each op writes its mark into its slots, each read must find the mark of
// the value it wants. Returns the first thing that is wrong, empty when nothing is.
std::string first_fault(const Plan& plan, std::span<const Needs> needs);

// The largest sum of temporaries live at one op, each rounded up to a multiple of `rounding`;
// values that start at the same place of the arena and follow each other in place count as one.
std::size_t bound_of(const Plan& plan, std::span<const Needs> needs, std::size_t rounding = 1);

// Per op, the values whose storage nobody needs after it.
std::vector<std::vector<ValueId>> deaths_of(const Graph& graph);

}  // namespace stepscope::test
