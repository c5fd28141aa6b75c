// Shapes and attributes as the numbers that device code takes (device/numbers.h).
// Requires: check_operands() let the site pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/api/kernel.h"
#include "backends/api/schedule_numbers.h"
#include "backends/cuda/device/numbers.h"

namespace stepscope::cuda {

// Row-major, of types that there are kernels for, and small enough for indices of 32 bits; throws
// unsupported with op and reason.
void check_operands(const OpSite& site);

Elements elements_of(const OpSite& site);
Scaled scaled_of(const OpSite& site);
Axis axis_of(const OpSite& site);
Rows rows_of(const OpSite& site);
Indexed indexed_of(const OpSite& site);
Chain chain_of(const OpSite& site);
Casting casting_of(const OpSite& site);
Update update_of(const OpSite& site);
SmallUpdate small_update_of(const OpSite& site);
ScheduleNumbers schedule_of(const OpSite& site);

}  // namespace stepscope::cuda
