// Messages of CUDA's and cuBLASLt's codes.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/error.h"

#include "ops/base/check.h"

namespace stepscope::cuda {
namespace {

// Codes of a kernel that failed: whatever call comes next returns them, and so does every later
// one.
bool is_sticky(cudaError_t code) {
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

std::string_view advice(cudaError_t code) {
  if (!is_sticky(code)) return {};
  return "; a kernel that was submitted earlier failed, and this process can use the device no "
         "more: start it again, under compute-sanitizer to find the kernel";
}

}  // namespace

void check_cuda(cudaError_t result, std::string_view what) {
  if (result == cudaSuccess) return;
  forget(result);
  fail(Fault::device, "{}: {} ({}, {}){}", what, cudaGetErrorString(result),
       cudaGetErrorName(result), static_cast<int>(result), advice(result));
}

void check_lt(cublasStatus_t result, std::string_view what) {
  if (result == CUBLAS_STATUS_SUCCESS) return;
  const cudaError_t behind = cudaGetLastError();  // of a runtime call that the library made
  fail(Fault::device, "{}: {} ({}){}", what, cublasLtGetStatusName(result),
       static_cast<int>(result), advice(behind));
}

void forget(cudaError_t result) noexcept {
  if (result != cudaSuccess) static_cast<void>(cudaGetLastError());
}

}  // namespace stepscope::cuda
