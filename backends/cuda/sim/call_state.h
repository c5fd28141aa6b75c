// call_state: what call.cpp keeps and control.cpp and the error calls look at.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/control.h"

namespace stepscope::cudasim {

cudaError_t last_error();       // of the calling thread
cudaError_t take_last_error();  // and it is success from then on

Driver current_driver();
void inject(CallId id, int code, int nth);
std::uint64_t times_made(CallId id);
void reset_calls(Driver driver);

}  // namespace stepscope::cudasim
