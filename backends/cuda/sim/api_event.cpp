// Calls of events.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/capture.h"
#include "backends/cuda/sim/objects.h"
#include "backends/cuda/sim/stream.h"

namespace {

using namespace stepscope::cudasim;

cudaError_t create(cudaEvent_t* out, unsigned flags) {
  constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming;
  if (out == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
  *out = &make_event((flags & cudaEventDisableTiming) == 0);
  return cudaSuccess;
}

cudaError_t record(CUevent_st& event, CUstream_st& stream) {
  if (const cudaError_t refused = refuse_legacy(stream)) return refused;
  if (stream.capture != nullptr) return capture_record(stream, event);
  TaskRef task;
  if (const cudaError_t refused = submit(stream, Nothing{}, &task)) return refused;
  event.recorded = true;
  event.task = std::move(task);
  event.captured = nullptr;
  return cudaSuccess;
}

// Rule 32.
cudaError_t elapsed(float& milliseconds, CUevent_st& begin, CUevent_st& end) {
  for (CUevent_st* event : {&begin, &end}) {
    if (is_captured(*event)) return refuse_event(*event);
  }
  for (const CUevent_st* event : {&begin, &end}) {
    if (!event->timing || !event->recorded) return cudaErrorInvalidResourceHandle;
  }
  for (const CUevent_st* event : {&begin, &end}) {
    if (const cudaError_t pending = query(event->task)) return pending;
  }
  milliseconds = static_cast<float>(static_cast<double>(end.task->end - begin.task->end) * 1e-6);
  return cudaSuccess;
}

}  // namespace

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call(CallId::cudaEventCreate,
              [&]() -> cudaError_t { return create(event, cudaEventDefault); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call(CallId::cudaEventCreateWithFlags,
              [&]() -> cudaError_t { return create(event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return call(CallId::cudaEventDestroy, [&]() -> cudaError_t {
    CUevent_st* event = event_of(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    destroy_event(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  return call(CallId::cudaEventRecord, [&]() -> cudaError_t {
    return use_stream(
        CallId::cudaEventRecord, stream_handle, [&](CUstream_st& stream) -> cudaError_t {
          CUevent_st* event = event_of(handle);
          return event != nullptr ? record(*event, stream) : cudaErrorInvalidResourceHandle;
        });
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return call(CallId::cudaEventSynchronize, [&]() -> cudaError_t {
    CUevent_st* event = event_of(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (is_captured(*event)) return refuse_event(*event);
    return wait_for(event->task);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call(CallId::cudaEventQuery, [&]() -> cudaError_t {
    CUevent_st* event = event_of(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (is_captured(*event)) return refuse_event(*event);
    return query(event->task);
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return call(CallId::cudaEventElapsedTime, [&]() -> cudaError_t {
    CUevent_st* from = event_of(begin);
    CUevent_st* to = event_of(end);
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    if (from == nullptr || to == nullptr) return cudaErrorInvalidResourceHandle;
    return elapsed(*milliseconds, *from, *to);
  });
}
