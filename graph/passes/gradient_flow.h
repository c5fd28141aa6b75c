// Gradient flow: which values would carry a factor that every loss gradient is multiplied by, and
// whether all of them end in plain SGD at the rate of the control block.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "graph/passes/uses.h"

namespace stepscope {

struct GradientFlow {
  std::vector<std::size_t> sources;     // ops that make a loss gradient; the factor enters here
  std::vector<std::size_t> updates;     // SgdUpdate ops whose gradient carries the factor
  ValueId rate;                         // control.lr, or what the schedule makes of it
  std::optional<std::size_t> schedule;  // the op that makes the rate; it may stand at the start
  // Why the factor cannot be the rate; empty: it can. `updates` may be incomplete where it is not.
  std::string refusal;
};

// Follows the factor through all ops. Refuses at the first value or op that it must not reach:
// what is kept, what is not linear in the gradient, an update that is not plain SGD at that rate.
GradientFlow gradient_flow(const Graph& graph, const Uses& uses);

}  // namespace stepscope
