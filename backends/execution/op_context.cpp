// Index, name and phases of an op.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/op_context.h"

#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope {

void throw_at_op(const Graph& graph, std::size_t op, Fault fault, std::string_view reason) {
  const Op& at = graph.ops()[op];
  fail(fault, "op {} {} ({}): {}", op, name(at.kind), to_string(at.phases), reason);
}

}  // namespace stepscope
