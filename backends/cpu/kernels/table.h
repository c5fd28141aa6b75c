// The kernels of one instruction set as a table of functions: all that the rest of the program sees
// of them. The tables are constants; choosing one is the whole choice of an instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu/kernels/numbers.h"

namespace stepscope::cpu {

struct Table {
#define STEPSCOPE_CPU_KERNEL(name) Function name;
#include "backends/cpu/kernels/kernel_list.inc"
#undef STEPSCOPE_CPU_KERNEL
};

namespace v2 {
extern const Table table;
}
namespace v3 {
extern const Table table;
}
namespace v4 {
extern const Table table;
}

}  // namespace stepscope::cpu
