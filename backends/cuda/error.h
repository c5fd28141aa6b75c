// error: what CUDA and cuBLASLt answered, as the project's one exception.
//
// A message names the call, the code by number and name, and CUDA's own words. The thread's last
// error is collected, so that one that was handled cannot fail the next check somewhere else.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <string_view>

namespace stepscope::cuda {

// Throws device unless it succeeded. `what`: the call and its numbers, "cudaMalloc of 4096 bytes".
void check_cuda(cudaError_t result, std::string_view what);
void check_lt(cublasStatus_t result, std::string_view what);

// For destructors and guards: collects the error and goes on.
void forget(cudaError_t result) noexcept;

}  // namespace stepscope::cuda
