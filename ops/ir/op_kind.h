// OpKind: the index of an op in the op table.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace stepscope {

// The names below are the built-in part; ops added at run time (add_op in ops/ir/op_def.h) follow
// it.
enum class OpKind : std::uint16_t {
#define STEPSCOPE_OP(name) name,
#include "ops/ir/op_list.inc"
#undef STEPSCOPE_OP
};

inline constexpr std::size_t kBuiltinOps = 0
#define STEPSCOPE_OP(name) +1
#include "ops/ir/op_list.inc"
#undef STEPSCOPE_OP
    ;

}  // namespace stepscope
