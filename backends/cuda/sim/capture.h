// capture: streams that turn what they are given into nodes (rules 1 to 23 of
// docs/cuda-simulator.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>
#include <thread>
#include <vector>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/graph.h"
#include "backends/cuda/sim/stream.h"

namespace stepscope::cudasim {

// One capture, from begin to end: its graph, its streams, and where in the graph each stands.
struct Capture;

// From submit(): a node behind what the stream stands at; 901 once the capture is invalid.
cudaError_t capture_work(CUstream_st& stream, Work work);
// From the event calls, for a stream that captures, or an event last recorded in a capture.
cudaError_t capture_record(CUstream_st& stream, CUevent_st& event);
cudaError_t capture_wait(CUstream_st& stream, CUevent_st& event);  // rules 14, 15, 16
// Whether the event was last recorded in a capture that has not ended; then rule 6: 907.
bool is_captured(const CUevent_st& event);

// Rule 4, 5: a wait for, or a query of, a stream that captures. Invalidates.
cudaError_t refuse_wait(CUstream_st& stream);
// Rule 6. 907.
cudaError_t refuse_event(CUevent_st& event);
// Rule 8: work for the legacy stream while a blocking stream captures: 906 and invalid; else 0.
cudaError_t refuse_legacy(const CUstream_st& stream);
// Rules 10 and 11: 900 and invalid where the capture modes forbid the call to this thread; else 0.
cudaError_t refuse_unsafe(CallId id);
// Rule 7: 900 and invalid while anything captures; else 0.
cudaError_t refuse_device_wait();
// Rule 13: 900 for a call that cannot be captured but leaves the capture as it is; 0 outside.
cudaError_t refuse_uncapturable(CUstream_st& stream);

bool anything_captures();
void invalidate(Capture& capture, std::string why);
// A stream that is destroyed while it captures: the capture becomes invalid and forgets it.
void forget_stream(CUstream_st& stream);
void reset_captures();

}  // namespace stepscope::cudasim
