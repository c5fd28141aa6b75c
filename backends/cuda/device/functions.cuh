// Scalar functions that plain kernels and chains share. Special values as docs/vocabulary.md has
// them: what propagates a NaN is written as a comparison that a NaN fails.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/device_compat.cuh"

namespace stepscope::cuda {
namespace {

__device__ inline float relu(float x) { return x <= 0.0f ? 0.0f : x; }
__device__ inline float relu_grad(float dy, float y) { return y <= 0.0f ? 0.0f : dy; }
__device__ inline float tanh_grad(float dy, float y) { return dy * (1.0f - y * y); }
__device__ inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
__device__ inline float sigmoid_grad(float dy, float y) { return dy * y * (1.0f - y); }

}  // namespace
}  // namespace stepscope::cuda
