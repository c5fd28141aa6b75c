// Calls of streams.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/clock.h"
#include "backends/cuda/sim/objects.h"
#include "backends/cuda/sim/stream.h"

namespace {

using namespace stepscope::cudasim;

cudaError_t create(cudaStream_t* out, unsigned flags) {
  if (out == nullptr || (flags & ~cudaStreamNonBlocking) != 0) return cudaErrorInvalidValue;
  *out = &make_stream(flags != cudaStreamNonBlocking);
  return cudaSuccess;
}

// A wait for or a query of the stream is a use of it: rules 4, 5 and 8.
cudaError_t refuse_look(CUstream_st& stream) {
  if (stream.legacy) return refuse_legacy(stream);
  return stream.capture != nullptr ? refuse_wait(stream) : cudaSuccess;
}

// A stream is done when its last task is; the legacy one, when those of all blocking streams are:
// one wait for all of them, so that the schedule chooses their order.
cudaError_t wait_for_stream(const CUstream_st& stream) {
  return wait_for(stream.legacy ? mark_behind(stream) : stream.last);
}

cudaError_t query_stream(const CUstream_st& stream) {
  if (!stream.legacy) return query(stream.last);
  for (const TaskRef& task : follows(stream)) {
    if (task->end > host_clock()) return query(task);
  }
  return query(mark_behind(stream));
}

cudaError_t wait_on_event(CUstream_st& stream, CUevent_st& event, unsigned flags) {
  if ((flags & ~cudaEventWaitExternal) != 0) return cudaErrorInvalidValue;
  if (flags == cudaEventWaitExternal) return cudaErrorNotSupported;  // nobody needs such nodes yet
  if (const cudaError_t refused = refuse_legacy(stream)) return refused;
  if (stream.capture != nullptr || is_captured(event)) return capture_wait(stream, event);
  if (!event.recorded) return cudaSuccess;  // an empty set of work
  std::vector<TaskRef> after = follows(stream);
  after.push_back(event.task);
  set_last(stream, submit_task(std::make_shared<const Work>(Nothing{}), std::move(after), false));
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return call(CallId::cudaStreamCreate,
              [&]() -> cudaError_t { return create(stream, cudaStreamDefault); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return call(CallId::cudaStreamCreateWithFlags,
              [&]() -> cudaError_t { return create(stream, flags); });
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call(CallId::cudaStreamDestroy, [&]() -> cudaError_t {
    CUstream_st* stream = stream_of(handle);
    return stream != nullptr ? destroy_stream(*stream) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return call(CallId::cudaStreamSynchronize, [&]() -> cudaError_t {
    CUstream_st* stream = stream_of(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t refused = refuse_look(*stream)) return refused;
    return wait_for_stream(*stream);
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return call(CallId::cudaStreamQuery, [&]() -> cudaError_t {
    CUstream_st* stream = stream_of(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t refused = refuse_look(*stream)) return refused;
    return query_stream(*stream);
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned int flags) {
  return call(CallId::cudaStreamWaitEvent, [&]() -> cudaError_t {
    return use_stream(CallId::cudaStreamWaitEvent, handle, [&](CUstream_st& stream) -> cudaError_t {
      CUevent_st* event = event_of(event_handle);
      if (event == nullptr) return cudaErrorInvalidResourceHandle;
      return wait_on_event(stream, *event, flags);
    });
  });
}
