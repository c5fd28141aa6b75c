// Two kernels for tests of streams and recordings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/submission.h"

namespace stepscope::cuda::test {

// x {n}: x = 2 x + 1, so that order and count of runs show.
cudaError_t run_twice_plus_one(Submission& to, float* x, int n, unsigned block = 32);
// The same, launched where no recording looks: a kernel that strays.
cudaError_t stray_twice_plus_one(cudaStream_t stream, float* x, int n);
// And allowed to start before the kernel ahead of it ends.
cudaError_t programmatic_twice_plus_one(cudaStream_t stream, float* x, int n);

}  // namespace stepscope::cuda::test
