// Status: the answer of any of the four libraries, as the number and the name that it has there.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <cupti.h>

#include <string>

namespace stepscope::probe {

struct Status {
  int code;
  std::string name;
};

Status status_of(cudaError_t error);
Status status_of(cublasStatus_t status);
Status status_of(cudnnStatus_t status);
Status status_of(CUptiResult result);

// What an executable's update answers beside its code.
std::string name_of(cudaGraphExecUpdateResult result);
std::string name_of(cudaStreamCaptureStatus status);
std::string name_of(cudaStreamCaptureMode mode);
std::string name_of(cudaGraphNodeType type);

}  // namespace stepscope::probe
