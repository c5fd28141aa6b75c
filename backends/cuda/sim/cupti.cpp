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

struct ResultName {
  CUptiResult result;
  const char* name;
};
constexpr ResultName kResults[] = {
    {CUPTI_SUCCESS, "CUPTI_SUCCESS"},
    {CUPTI_ERROR_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER"},
    {CUPTI_ERROR_INVALID_OPERATION, "CUPTI_ERROR_INVALID_OPERATION"},
    {CUPTI_ERROR_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED"},
    {CUPTI_ERROR_NOT_SUPPORTED, "CUPTI_ERROR_NOT_SUPPORTED"},
    {CUPTI_ERROR_UNKNOWN, "CUPTI_ERROR_UNKNOWN"},
};

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
  for (const ResultName& one : kResults) {
    if (one.result != result) continue;
    *text = one.name;
    return CUPTI_SUCCESS;
  }
  *text = "<unknown>";
  return CUPTI_ERROR_INVALID_PARAMETER;
}

}  // extern "C"
