// The table of one instruction set, from the list of kernels.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/kernels/table.h"

#include "backends/cpu/kernels/kernels.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {

constinit const Table table = {
#define STEPSCOPE_CPU_KERNEL(name) name,
#include "backends/cpu/kernels/kernel_list.inc"
#undef STEPSCOPE_CPU_KERNEL
};

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
