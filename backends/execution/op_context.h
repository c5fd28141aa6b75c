// op_context: which op an error is about, in front of its message.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "ops/base/error.h"
#include "ops/ir/graph.h"

namespace stepscope {

// Throws "op 5 MatMul (backward): REASON". Of a handler, so a step without an error pays nothing.
[[noreturn]] void throw_at_op(const Graph& graph, std::size_t op, Fault fault,
                              std::string_view reason);

}  // namespace stepscope
