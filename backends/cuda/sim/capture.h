// capture: streams that turn what they are given into nodes (rules 1 to 23 of
// docs/cuda-simulator.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/graph.h"
#include "backends/cuda/sim/stream.h"

namespace stepscope::cudasim {

// Where a stream of a capture stands: what the next node in it will follow.
struct Branch {
  CUstream_st* stream = nullptr;
  std::vector<CUgraphNode_st*> at;
  std::vector<cudaGraphEdgeData> edges;  // as many as `at`, all default; cudaStreamGetCaptureInfo
};

// One capture, from begin to end: its graph, its streams, and where in the graph each stands.
struct Capture {
  unsigned long long id = 0;  // never twice in a process
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::uint64_t thread = 0;  // that began it: this_thread()
  CUstream_st* origin = nullptr;
  CUgraph_st* graph = nullptr;
  bool owns_graph = true;                         // false: cudaStreamBeginCaptureToGraph
  bool ended = false;                             // events may outlive their capture
  std::string invalid;                            // why; empty while it is valid
  std::vector<std::unique_ptr<Branch>> branches;  // the origin's first
};

// Where a capture begins: a graph of its own (null), or behind nodes of a given one.
struct CaptureStart {
  CUgraph_st* graph = nullptr;
  std::vector<CUgraphNode_st*> behind;
};
cudaError_t begin_capture(CUstream_st& stream, cudaStreamCaptureMode mode, CaptureStart start);
cudaError_t end_capture(CUstream_st& stream, CUgraph_st** graph);  // null graph with every error
Branch& branch_of(Capture& capture, const CUstream_st& stream);    // Requires: it has joined
// Swaps the calling thread's mode (rule 11).
cudaStreamCaptureMode exchange_mode(cudaStreamCaptureMode mode);
// Whether a capture that has not ended goes into the graph.
bool captures_into(const CUgraph_st& graph);

// From submit(): a node behind what the stream stands at; 901 once the capture is invalid.
cudaError_t capture_work(CUstream_st& stream, Work work);
// From the event calls, for a stream that captures, or an event last recorded in a capture.
cudaError_t capture_record(CUstream_st& stream, CUevent_st& event);
cudaError_t capture_wait(CUstream_st& stream, CUevent_st& event);  // rules 14, 15, 16
// Whether the event was last recorded in a capture, ended or not; then rule 6: 907.
bool is_captured(const CUevent_st& event);

// Rules 4, 5: a wait for, or a query of, a stream. 900 and invalid if it captures, 901 if that was
// invalid already; else 0.
cudaError_t refuse_wait(CUstream_st& stream);
// Rule 6: a wait for, a query of, or the elapsed time of a captured event. 907, and invalid; 901 if
// its capture was invalid already.
cudaError_t refuse_event(CUevent_st& event);
// Rule 8: work for the legacy stream while a blocking stream captures: 906 and invalid; else 0.
cudaError_t refuse_legacy(const CUstream_st& stream);
// Whether rule 9 answers: the legacy stream asked after, while a blocking stream captures.
bool legacy_is_unusable(const CUstream_st& stream);
// Rules 10 and 11: 900 and invalid where the capture modes forbid the call to this thread; else 0.
// Calls that go to the legacy stream of themselves are rule 8's first.
cudaError_t refuse_unsafe(CallId id);
// Rule 7: 900 and invalid while anything captures; else 0.
cudaError_t refuse_device_wait();
// Rule 13: 900 for a call that cannot be captured but leaves the capture as it is; 901 if that is
// invalid; 0 outside.
cudaError_t refuse_uncapturable(CUstream_st& stream);

// Runs body(stream) -> cudaError_t, for a call that gives the stream something. Whatever is refused
// there makes the stream's capture invalid; 901 if it was before.
template <class Body>
cudaError_t use_stream(CallId id, cudaStream_t handle, Body body);
cudaError_t refuse_invalid(const CUstream_st& stream);  // 901, or 0
void break_capture(CallId id, CUstream_st& stream, cudaError_t refusal);

bool anything_captures();
void invalidate(Capture& capture, std::string why);
// A stream that is destroyed while it captures: the capture becomes invalid and forgets it.
void forget_stream(CUstream_st& stream);
void reset_captures();

template <class Body>
cudaError_t use_stream(CallId id, cudaStream_t handle, Body body) {
  CUstream_st* const stream = stream_of(handle);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (const cudaError_t refused = refuse_invalid(*stream)) return refused;
  const cudaError_t result = body(*stream);
  if (result != cudaSuccess) break_capture(id, *stream, result);
  return result;
}

}  // namespace stepscope::cudasim
