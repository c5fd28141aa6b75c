// The build for a GPU: CUDA's own runtime, linked statically, and cuBLASLt, loaded when it is
// wanted.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "backends/cuda/build.h"
#include "backends/cuda/cublaslt_loaded.h"
#include "backends/cuda/probe.h"

namespace stepscope::cuda {

const Build kBuild{.name = "cuda", .simulated = false};

std::optional<std::string> why_no_library() {
  const std::string& reason = loaded_cublaslt().why_not;
  if (reason.empty()) return std::nullopt;
  return why_not_loaded(reason, CUDART_VERSION);
}

}  // namespace stepscope::cuda
