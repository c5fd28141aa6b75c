// Pointwise ops in f64, for values that a fused op computes on its way and never stores.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/ir/op_kind.h"

namespace stepscope::test {

// Requires: a kind that may be a step of a PointwiseChain. `b` is ignored by ops of one operand,
// `factor` by all but Scale.
double evaluate(OpKind kind, double factor, double a, double b);

}  // namespace stepscope::test
