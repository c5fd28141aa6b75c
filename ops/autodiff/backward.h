// Reverse-mode differentiation: appends the ops that compute gradients of a loss.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "ops/ir/graph.h"

namespace stepscope {

// Appends the backward ops of `loss` to the graph, in its current phase, and returns d loss / d w
// for each w of `wrt`, in the order of `wrt`. Gradients that meet in a value are added in the order
// in which its readers stand, last first.
// Throws bad_graph when the loss is no floating scalar or a w does not reach it; unsupported,
// naming the op, when an op on the way has no gradient rule.
std::vector<ValueId> add_backward(Graph& graph, ValueId loss, std::span<const ValueId> wrt);

}  // namespace stepscope
