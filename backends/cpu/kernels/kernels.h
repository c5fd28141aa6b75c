// What the kernel sources of one instruction set share: their namespace, the list of kernels and
// the reading of operands. Included by sources of this folder only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/numbers.h"
#include "backends/cpu/kernels/table.h"

// The build defines it as v2, v3 or v4; an editor or a check of headers does not.
#ifndef STEPSCOPE_CPU_ISA
#define STEPSCOPE_CPU_ISA v2
#endif

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {

#define STEPSCOPE_CPU_KERNEL(name) \
  void name(Operands operands, std::byte* scratch, const Numbers& numbers);
#include "backends/cpu/kernels/kernel_list.inc"
#undef STEPSCOPE_CPU_KERNEL

inline float* f32(Operands operands, int i) { return reinterpret_cast<float*>(operands[i]); }
inline std::int32_t* i32(Operands operands, int i) {
  return reinterpret_cast<std::int32_t*>(operands[i]);
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
