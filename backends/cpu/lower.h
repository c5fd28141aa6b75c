// From a site to the body of its kernel: one function per op, in the lower_*.cpp files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cpu/kernels.h"
#include "backends/cpu/kernels/table.h"

namespace stepscope::cpu {

using Lower = Body (*)(const OpSite& site, const Table& table);

// Null for an op that the family has no kernels for.
Lower lower_pointwise(OpKind kind);
Lower lower_rows(OpKind kind);
Lower lower_images(OpKind kind);
Lower lower_updates(OpKind kind);

// Throws unsupported, with op and type, unless every operand is f32, or i32 or u8 where the op's
// shape rule wants them.
void check_f32(const OpSite& site);
// Throws unsupported, with op and layout, unless every operand is row-major.
void check_row_major(const OpSite& site);

// {N, C, inner} of a type; its block. Requires: rank 2 or more.
Blocked blocked(const TensorType& type);
// What an op must set to zero that makes something else of a zero; nothing in row-major.
Padding padding_of(const TensorType& type);

}  // namespace stepscope::cpu
