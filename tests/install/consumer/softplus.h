// Softplus, y = log(1 + exp(x)): an op from outside the tree, with gradient rule, kernels and
// cases.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/api/host.h"
#include "ops/ir/graph.h"
#include "tests/conformance/op_cases.h"

namespace consumer {

// Adds the op to the table at the first call, which must come before the first graph with it.
stepscope::OpKind softplus_op();

// x {...} -> y {...}, of the same type
stepscope::ValueId softplus(stepscope::Graph& graph, stepscope::ValueId x);

// A kernel for f32 and f64 on the host. Throws unsupported for other types.
std::unique_ptr<stepscope::Kernel> make_softplus(const stepscope::OpSite& site);

// What the suite is told of it.
stepscope::conformance::OpEntry softplus_entry();

}  // namespace consumer
