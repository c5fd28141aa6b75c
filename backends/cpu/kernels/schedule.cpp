// The rate of a step by its schedule.
// SPDX-License-Identifier: Apache-2.0
#include "backends/api/scheduled_rate.h"
#include "backends/cpu/kernels/kernels.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {

// rate {}, step {} -> rate times the factor of that step {}
void ScheduledRate(Operands operands, std::byte*, const Numbers& numbers) {
  *f32(operands, 2) = scheduled_rate(numbers.schedule, *f32(operands, 0), *i32(operands, 1));
}

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
