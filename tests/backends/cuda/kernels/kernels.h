// Kernels of several kinds, each behind a function that launches it: what the simulator's builds
// and nvcc all compile. All arrays are row-major in device memory; {n} is an array's extent.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace stepscope::kernels {

// in {n} -> out {1}, by way of scratch {kSumBlocks}.
inline constexpr int kSumBlocks = 5;
cudaError_t launch_sum(cudaStream_t stream, float* out, float* scratch, const float* in, int n);

// logits {rows, columns}, labels {rows} -> loss {rows}, gradient {rows, columns} of their mean.
cudaError_t launch_softmax_xent(cudaStream_t stream, float* loss, float* gradient,
                                const float* logits, const int* labels, int rows, int columns);

// in {rows, columns} -> out {columns, rows}
cudaError_t launch_transpose(cudaStream_t stream, float* out, const float* in, int rows,
                             int columns);

// in {n} -> out {n}, out[i] = in[0] + ... + in[i]; sums {scan_blocks(n)} is scratch.
int scan_blocks(int n);
cudaError_t launch_inclusive_scan(cudaStream_t stream, int* out, int* sums, const int* in, int n);

// in {rows, columns} -> out {columns}: the gradient of a bias.
cudaError_t launch_column_sums(cudaStream_t stream, float* out, const float* in, int rows,
                               int columns);

// in {n}, each below kBins -> counts {kBins}, added to what is there.
inline constexpr int kBins = 37;
cudaError_t launch_histogram(cudaStream_t stream, unsigned* counts, const int* in, int n);

// weights {n} -= *rate * gradient {n}; both aligned to 16 bytes.
cudaError_t launch_sgd(cudaStream_t stream, float* weights, const float* gradient,
                       const float* rate, int n);

// in {n} -> out {n}: the mean over i - radius .. i + radius, zeros outside.
cudaError_t launch_box_filter(cudaStream_t stream, float* out, const float* in, int n, int radius);

}  // namespace stepscope::kernels
