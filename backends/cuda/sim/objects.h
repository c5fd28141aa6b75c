// objects: making and destroying streams and events; for their calls alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/sim/stream.h"

namespace stepscope::cudasim {

CUstream_st& make_stream(bool blocking);
// 400 for the legacy stream and a thread's own. Work that it was given still runs.
cudaError_t destroy_stream(CUstream_st& stream);
CUevent_st& make_event(bool timing);
void destroy_event(CUevent_st& event);

}  // namespace stepscope::cudasim
