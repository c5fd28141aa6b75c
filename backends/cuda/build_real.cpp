// The build for a GPU: CUDA's own runtime, linked statically, and cuBLASLt, loaded when it is
// wanted.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "backends/cuda/build.h"
#include "backends/cuda/cublaslt_loaded.h"

namespace stepscope::cuda {

const Build kBuild{.name = "cuda", .simulated = false};

std::optional<std::string> why_no_library() {
  const std::string& reason = loaded_cublaslt().why_not;
  if (reason.empty()) return std::nullopt;
  return fmt::format(
      "cuBLASLt cannot be loaded: {}; install NVIDIA's package libcublas-{}, or name the toolkit's "
      "lib64 in LD_LIBRARY_PATH",
      reason, kCublasLtMajor);
}

}  // namespace stepscope::cuda
