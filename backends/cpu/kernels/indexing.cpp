// Gather and ScatterAdd. Requires: indices in [0, rows).
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/loops.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {

// table {rows, row} of any element type, indices i32{N} -> {N, row}
void Gather(Operands operands, std::byte*, const Numbers& numbers) {
  const Indexed& site = numbers.indexed;
  const std::int32_t* indices = i32(operands, 1);
  for (std::int64_t n = 0; n < site.N; ++n) {
    std::memcpy(operands[2] + static_cast<std::size_t>(n) * site.row_bytes,
                operands[0] + static_cast<std::size_t>(indices[n]) * site.row_bytes,
                site.row_bytes);
  }
}

// updates {N, row}, indices i32{N} -> {rows, row}: zeros, and the updates added in the order of n
void ScatterAdd(Operands operands, std::byte*, const Numbers& numbers) {
  const Indexed& site = numbers.indexed;
  const std::int32_t* indices = i32(operands, 1);
  float* y = f32(operands, 2);
  std::memset(y, 0, static_cast<std::size_t>(site.rows) * site.row_bytes);
  for (std::int64_t n = 0; n < site.N; ++n) {
    float* row = y + indices[n] * site.row;
    add(row, f32(operands, 0) + n * site.row, row, site.row);
  }
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
