// Names of statuses, as their own libraries give them; those of enumerations without such a call
// are NVIDIA's words from driver_types.h.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/probe/status.h"

#include <fmt/format.h>

namespace stepscope::probe {

Status status_of(cudaError_t error) { return {error, cudaGetErrorName(error)}; }

Status status_of(cublasStatus_t status) { return {status, cublasLtGetStatusName(status)}; }

Status status_of(cudnnStatus_t status) { return {status, cudnnGetErrorString(status)}; }

Status status_of(CUptiResult result) {
  const char* name = nullptr;
  if (cuptiGetResultString(result, &name) != CUPTI_SUCCESS || name == nullptr) {
    return {result, "without a name"};
  }
  return {result, name};
}

std::string name_of(cudaGraphExecUpdateResult result) {
  switch (result) {
    case cudaGraphExecUpdateSuccess:
      return "Success";
    case cudaGraphExecUpdateError:
      return "Error";
    case cudaGraphExecUpdateErrorTopologyChanged:
      return "ErrorTopologyChanged";
    case cudaGraphExecUpdateErrorNodeTypeChanged:
      return "ErrorNodeTypeChanged";
    case cudaGraphExecUpdateErrorFunctionChanged:
      return "ErrorFunctionChanged";
    case cudaGraphExecUpdateErrorParametersChanged:
      return "ErrorParametersChanged";
    case cudaGraphExecUpdateErrorNotSupported:
      return "ErrorNotSupported";
    case cudaGraphExecUpdateErrorUnsupportedFunctionChange:
      return "ErrorUnsupportedFunctionChange";
    case cudaGraphExecUpdateErrorAttributesChanged:
      return "ErrorAttributesChanged";
  }
  return fmt::format("result {}", static_cast<int>(result));
}

std::string name_of(cudaStreamCaptureStatus status) {
  switch (status) {
    case cudaStreamCaptureStatusNone:
      return "none";
    case cudaStreamCaptureStatusActive:
      return "active";
    case cudaStreamCaptureStatusInvalidated:
      return "invalidated";
  }
  return fmt::format("status {}", static_cast<int>(status));
}

std::string name_of(cudaStreamCaptureMode mode) {
  switch (mode) {
    case cudaStreamCaptureModeGlobal:
      return "global";
    case cudaStreamCaptureModeThreadLocal:
      return "thread-local";
    case cudaStreamCaptureModeRelaxed:
      return "relaxed";
  }
  return fmt::format("mode {}", static_cast<int>(mode));
}

std::string name_of(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "kernel";
    case cudaGraphNodeTypeMemcpy:
      return "memcpy";
    case cudaGraphNodeTypeMemset:
      return "memset";
    case cudaGraphNodeTypeHost:
      return "host";
    case cudaGraphNodeTypeEmpty:
      return "empty";
    case cudaGraphNodeTypeMemAlloc:
      return "alloc";
    case cudaGraphNodeTypeMemFree:
      return "free";
    default:
      return fmt::format("type {}", static_cast<int>(type));
  }
}

}  // namespace stepscope::probe
