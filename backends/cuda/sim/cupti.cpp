// cupti: what can be asked of CUPTI before a trace is written. Records and callbacks are refused
// out loud: a caller that was told "success" would wait for records that never come.
// SPDX-License-Identifier: Apache-2.0
#include <cupti.h>

#include <cstdint>

#include "backends/cuda/sim/call.h"
#include "backends/cuda/sim/clock.h"
#include "backends/cuda/sim/library.h"

namespace stepscope::cudasim {
namespace {

bool& has_callbacks() {
  static bool has = false;
  return has;
}

CUptiResult register_callbacks(CUpti_BuffersCallbackRequestFunc requested,
                               CUpti_BuffersCallbackCompleteFunc completed) {
  if (requested == nullptr || completed == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  has_callbacks() = true;
  return CUPTI_SUCCESS;
}

// Null: no result that cupti_result.h of CUDA 13.0 defines.
const char* name_of_result(CUptiResult result) {
  switch (result) {
#define RESULT(name) \
  case name:         \
    return #name;
    RESULT(CUPTI_SUCCESS)
    RESULT(CUPTI_ERROR_INVALID_PARAMETER)
    RESULT(CUPTI_ERROR_INVALID_DEVICE)
    RESULT(CUPTI_ERROR_INVALID_CONTEXT)
    RESULT(CUPTI_ERROR_INVALID_EVENT_DOMAIN_ID)
    RESULT(CUPTI_ERROR_INVALID_EVENT_ID)
    RESULT(CUPTI_ERROR_INVALID_EVENT_NAME)
    RESULT(CUPTI_ERROR_INVALID_OPERATION)
    RESULT(CUPTI_ERROR_OUT_OF_MEMORY)
    RESULT(CUPTI_ERROR_HARDWARE)
    RESULT(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT)
    RESULT(CUPTI_ERROR_API_NOT_IMPLEMENTED)
    RESULT(CUPTI_ERROR_MAX_LIMIT_REACHED)
    RESULT(CUPTI_ERROR_NOT_READY)
    RESULT(CUPTI_ERROR_NOT_COMPATIBLE)
    RESULT(CUPTI_ERROR_NOT_INITIALIZED)
    RESULT(CUPTI_ERROR_INVALID_METRIC_ID)
    RESULT(CUPTI_ERROR_INVALID_METRIC_NAME)
    RESULT(CUPTI_ERROR_QUEUE_EMPTY)
    RESULT(CUPTI_ERROR_INVALID_HANDLE)
    RESULT(CUPTI_ERROR_INVALID_STREAM)
    RESULT(CUPTI_ERROR_INVALID_KIND)
    RESULT(CUPTI_ERROR_INVALID_EVENT_VALUE)
    RESULT(CUPTI_ERROR_DISABLED)
    RESULT(CUPTI_ERROR_INVALID_MODULE)
    RESULT(CUPTI_ERROR_INVALID_METRIC_VALUE)
    RESULT(CUPTI_ERROR_HARDWARE_BUSY)
    RESULT(CUPTI_ERROR_NOT_SUPPORTED)
    RESULT(CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED)
    RESULT(CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_DEVICE)
    RESULT(CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_ON_NON_P2P_DEVICES)
    RESULT(CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED_WITH_MPS)
    RESULT(CUPTI_ERROR_CDP_TRACING_NOT_SUPPORTED)
    RESULT(CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED)
    RESULT(CUPTI_ERROR_CUDA_COMPILER_NOT_COMPATIBLE)
    RESULT(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    RESULT(CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED)
    RESULT(CUPTI_ERROR_OPENACC_UNDEFINED_ROUTINE)
    RESULT(CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED)
    RESULT(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    RESULT(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
    RESULT(CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED)
    RESULT(CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED)
    RESULT(CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED)
    RESULT(CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED)
    RESULT(CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED)
    RESULT(CUPTI_ERROR_INVALID_CHIP_NAME)
    RESULT(CUPTI_ERROR_UNKNOWN)
#undef RESULT
    default:
      return nullptr;
  }
}

}  // namespace

void reset_cupti() { has_callbacks() = false; }

}  // namespace stepscope::cudasim

using namespace stepscope::cudasim;

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  return call(CallId::cuptiGetVersion, [&] {
    if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
  });
}
CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  return call(CallId::cuptiGetTimestamp, [&] {
    if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    *timestamp = static_cast<std::uint64_t>(host_clock());
    return CUPTI_SUCCESS;
  });
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  return call(CallId::cuptiActivityRegisterCallbacks,
              [&] { return register_callbacks(requested, completed); });
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) {
  return call(CallId::cuptiActivityEnable, [] { return CUPTI_ERROR_NOT_SUPPORTED; });
}
// Nothing can be enabled, so nothing is left to deliver.
CUptiResult cuptiActivityFlushAll(uint32_t) {
  return call(CallId::cuptiActivityFlushAll,
              [] { return has_callbacks() ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_OPERATION; });
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*) {
  return call(CallId::cuptiSubscribe, [] { return CUPTI_ERROR_NOT_SUPPORTED; });
}
CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const char* name = name_of_result(result);
  *text = name != nullptr ? name : "<unknown>";
  return name != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

}  // extern "C"
