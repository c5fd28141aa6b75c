// Gradient rules against central differences, in f64 on the oracle, through autodiff and the
// executors: loss = sum(w .* op(inputs)) with random w, every floating input wanted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "ops/ir/graph.h"
#include "tests/conformance/checks.h"

namespace stepscope::conformance {

// Whether there is a rule to check: the op has one, the case is differentiable, and something
// floating goes in and comes out.
bool has_gradient(const OpEntry& op, const OpCase& op_case);

// Gradients from the three modes, equal bit for bit, and along random directions within what
// rounding and truncation of the differences explain. Asks no other backend.
// Requires: has_gradient(op, op_case).
Findings check_gradient(const OpEntry& op, const OpCase& op_case);

struct LossGraph {
  Graph graph;
  std::vector<ValueId> in;         // the floating inputs
  std::vector<std::size_t> index;  // per one of these: which input it is
  std::vector<ValueId> weighted;   // the outputs that reach the loss
  ValueId loss;                    // invalid: no output is floating
};
// `through`: bit k lets output k reach the loss.
LossGraph loss_of(const OpEntry& op, const OpCase& op_case, std::uint32_t through);

}  // namespace stepscope::conformance
