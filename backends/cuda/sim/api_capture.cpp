// api_capture: the runtime's calls that begin, end and ask after captures.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/graph.h"
#include "backends/cuda/sim/stream.h"

using namespace stepscope::cudasim;

namespace {

bool is_mode(cudaStreamCaptureMode mode) {
  return mode == cudaStreamCaptureModeGlobal || mode == cudaStreamCaptureModeThreadLocal ||
         mode == cudaStreamCaptureModeRelaxed;
}

cudaStreamCaptureStatus status_of(const CUstream_st& stream) {
  if (stream.capture == nullptr) return cudaStreamCaptureStatusNone;
  return stream.capture->invalid.empty() ? cudaStreamCaptureStatusActive
                                         : cudaStreamCaptureStatusInvalidated;
}

}  // namespace

cudaError_t CUDARTAPI cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  return call(CallId::cudaStreamBeginCapture, [&]() -> cudaError_t {
    CUstream_st* const stream = stream_of(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (!is_mode(mode)) return cudaErrorInvalidValue;
    return begin_capture(*stream, mode, {});
  });
}

cudaError_t CUDARTAPI cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph_handle,
                                                    const cudaGraphNode_t* dependencies,
                                                    const cudaGraphEdgeData* data,
                                                    std::size_t count, cudaStreamCaptureMode mode) {
  return call(CallId::cudaStreamBeginCaptureToGraph, [&]() -> cudaError_t {
    CUstream_st* const stream = stream_of(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    CUgraph_st* const graph = graph_of(graph_handle);
    if (graph == nullptr || !is_mode(mode) || captures_into(*graph)) return cudaErrorInvalidValue;
    if (const cudaError_t bad = check_edge_data(data, count)) return bad;
    if (const cudaError_t bad = check_nodes(*graph, dependencies, count)) return bad;
    return begin_capture(*stream, mode, {graph, {dependencies, dependencies + count}});
  });
}

cudaError_t CUDARTAPI cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  return call(CallId::cudaStreamEndCapture, [&]() -> cudaError_t {
    if (graph == nullptr) return cudaErrorInvalidValue;
    CUstream_st* const stream = stream_of(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    return end_capture(*stream, graph);
  });
}

cudaError_t CUDARTAPI cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  return call(CallId::cudaStreamIsCapturing, [&]() -> cudaError_t {
    if (status == nullptr) return cudaErrorInvalidValue;
    const CUstream_st* const stream = stream_of(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (legacy_is_unusable(*stream)) return cudaErrorStreamCaptureImplicit;
    *status = status_of(*stream);
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                               unsigned long long* id, cudaGraph_t* graph,
                                               const cudaGraphNode_t** dependencies,
                                               const cudaGraphEdgeData** data, std::size_t* count) {
  return call(CallId::cudaStreamGetCaptureInfo, [&]() -> cudaError_t {
    if (status == nullptr || (data != nullptr && dependencies == nullptr)) {
      return cudaErrorInvalidValue;
    }
    const CUstream_st* const stream = stream_of(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (legacy_is_unusable(*stream)) return cudaErrorStreamCaptureImplicit;
    *status = status_of(*stream);
    if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
    Capture& capture = *stream->capture;
    const Branch& branch = branch_of(capture, *stream);
    if (id != nullptr) *id = capture.id;
    if (graph != nullptr) *graph = capture.graph;
    if (dependencies != nullptr) *dependencies = branch.at.data();
    if (data != nullptr) *data = branch.edges.data();
    if (count != nullptr) *count = branch.at.size();
    return cudaSuccess;
  });
}

cudaError_t CUDARTAPI cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return call(CallId::cudaThreadExchangeStreamCaptureMode, [&]() -> cudaError_t {
    if (mode == nullptr || !is_mode(*mode)) return cudaErrorInvalidValue;
    *mode = exchange_mode(*mode);
    return cudaSuccess;
  });
}
