// The probe's kernels, to the plain C++ around them: launches, and addresses for nodes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace stepscope::probe {

// *data += amount, by one thread.
cudaError_t launch_add(cudaStream_t stream, int* data, int amount);
// *data = *data * factor + term, by one thread: shows an order.
cudaError_t launch_scale_add(cudaStream_t stream, int* data, int factor, int term);
// *data += 1, with a long while between the read and the write: shows an overlap.
cudaError_t launch_slow_increment(cudaStream_t stream, int* data);
// Nothing, in any shape.
cudaError_t launch_nothing(cudaStream_t stream, dim3 grid, dim3 block, std::size_t dynamic_shared);

// Leaves *data as it is, through a shared array of kArrayInts.
inline constexpr int kArrayInts = 256;
cudaError_t launch_use_array(cudaStream_t stream, int* data, std::size_t dynamic_shared);

// For nodes and untyped launches; the parameters are those above, without the stream.
const void* add_kernel();
const void* scale_add_kernel();
const void* nothing_kernel();

}  // namespace stepscope::probe
