// site_types: which element types and layouts there are kernels for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/api/kernel.h"

namespace stepscope::cuda {

// Row-major, and f32 or what an op takes beside it; throws unsupported with op and reason.
void check_types(const OpSite& site);

}  // namespace stepscope::cuda
