// The step's kernels: loss, update, counter, and plain products for a step without a library.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/cuda/mlp/kernels.h"

#include "tests/backends/cuda/mlp/recorder.cuh"

namespace stepscope::mlp {
namespace {

constexpr int kWarp = 32;
constexpr int kWarps = 4;  // rows of a block of softmax_xent
constexpr int kThreads = 128;
constexpr unsigned kAll = 0xffffffffu;

unsigned blocks_for(int threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}
constexpr int kSums = 4;  // side by side, since each addition waits for the one before

__device__ int index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }

__device__ float sum_of_warp(float value) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    value += __shfl_xor_sync(kAll, value, lanes);
  }
  return value;
}

// A warp for each row.
__global__ void softmax_xent_kernel(float* loss, float* gradient, const float* logits,
                                    const int* labels, int rows, int classes) {
  const int row = index() / kWarp;
  const int lane = index() % kWarp;
  if (row >= rows) {
    return;  // a whole warp
  }
  logits += row * classes;
  gradient += row * classes;
  float most = -INFINITY;
  for (int i = lane; i < classes; i += kWarp) {
    most = fmaxf(most, logits[i]);
  }
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) {
    most = fmaxf(most, __shfl_xor_sync(kAll, most, lanes));
  }
  float sum = 0.0f;
  for (int i = lane; i < classes; i += kWarp) {
    sum += expf(logits[i] - most);
  }
  sum = sum_of_warp(sum);
  const int label = labels[row];
  for (int i = lane; i < classes; i += kWarp) {
    const float one = i == label ? 1.0f : 0.0f;
    gradient[i] = (expf(logits[i] - most) / sum - one) / static_cast<float>(rows);
  }
  if (lane == 0) {
    loss[row] = logf(sum) + most - logits[label];
  }
}

// One block.
__global__ void mean_kernel(float* out, const float* in, int n) {
  SHARED_ARRAY(float, of_warps, [kThreads / kWarp]);
  const int thread = static_cast<int>(threadIdx.x);
  float sum = 0.0f;
  for (int i = thread; i < n; i += kThreads) {
    sum += in[i];
  }
  sum = sum_of_warp(sum);
  if (thread % kWarp == 0) {
    of_warps[thread / kWarp] = sum;
  }
  __syncthreads();
  if (thread == 0) {
    float total = 0.0f;
    for (int warp = 0; warp < kThreads / kWarp; ++warp) {
      total += of_warps[warp];
    }
    out[0] = total / static_cast<float>(n);
  }
}

__global__ void sgd_kernel(float* weights, const float* gradient, const float* rate, int n) {
  const int i = index();
  const float step = *rate;
  if (4 * i + 3 < n) {
    float4 w = reinterpret_cast<float4*>(weights)[i];
    const float4 g = reinterpret_cast<const float4*>(gradient)[i];
    w.x -= step * g.x;
    w.y -= step * g.y;
    w.z -= step * g.z;
    w.w -= step * g.w;
    reinterpret_cast<float4*>(weights)[i] = w;
    return;
  }
  for (int j = 4 * i; j < n; ++j) {
    weights[j] -= step * gradient[j];
  }
}

__global__ void advance_kernel(int* count) { *count += 1; }

// A thread for each element of y.
__global__ void linear_kernel(float* y, const float* x, const float* weights, const float* bias,
                              int rows, int in, int out, bool relu) {
  const int at = index();
  if (at >= rows * out) {
    return;
  }
  const float* left = x + at / out * in;
  const float* right = weights + at % out * in;
  float sums[kSums] = {bias[at % out], 0.0f, 0.0f, 0.0f};
  for (int i = 0; i < in / kSums * kSums; i += kSums) {
    for (int j = 0; j < kSums; ++j) {
      sums[j] += left[i + j] * right[i + j];
    }
  }
  for (int i = in / kSums * kSums; i < in; ++i) {
    sums[0] += left[i] * right[i];
  }
  const float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  y[at] = relu && sum < 0.0f ? 0.0f : sum;  // NaN stays
}

// A thread for each weight; the first of a row sums the bias.
__global__ void weight_gradient_kernel(float* dweights, float* dbias, const float* dy,
                                       const float* x, int rows, int in, int out) {
  const int at = index();
  if (at >= in * out) {
    return;
  }
  const float* left = dy + at / in;
  float sum = 0.0f;
  for (int row = 0; row < rows; ++row) {
    sum += left[row * out] * x[row * in + at % in];
  }
  dweights[at] = sum;
  if (at % in != 0) {
    return;
  }
  float of_bias = 0.0f;
  for (int row = 0; row < rows; ++row) {
    of_bias += left[row * out];
  }
  dbias[at / in] = of_bias;
}

// A thread for each element of dx.
__global__ void input_gradient_kernel(float* dx, const float* dy, const float* weights,
                                      const float* x, int rows, int in, int out) {
  const int at = index();
  if (at >= rows * in) {
    return;
  }
  const float* left = dy + at / in * out;
  const float* right = weights + at % in;
  float sums[kSums] = {};
  for (int o = 0; o < out / kSums * kSums; o += kSums) {
    for (int j = 0; j < kSums; ++j) {
      sums[j] += left[o + j] * right[(o + j) * in];
    }
  }
  for (int o = out / kSums * kSums; o < out; ++o) {
    sums[0] += left[o] * right[o * in];
  }
  const float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  dx[at] = x[at] > 0.0f ? sum : 0.0f;
}

}  // namespace

void softmax_xent(Recorder& recorder, float* loss, float* gradient, const float* logits,
                  const int* labels, int rows, int classes) {
  const auto blocks = static_cast<unsigned>((rows + kWarps - 1) / kWarps);
  record(recorder, blocks, kWarp * kWarps, softmax_xent_kernel, loss, gradient, logits, labels,
         rows, classes);
}
void mean(Recorder& recorder, float* out, const float* in, int n) {
  record(recorder, 1, kThreads, mean_kernel, out, in, n);
}
void sgd(Recorder& recorder, float* weights, const float* gradient, const float* rate, int n) {
  record(recorder, blocks_for((n + 3) / 4), kThreads, sgd_kernel, weights, gradient, rate, n);
}
void advance(Recorder& recorder, int* count) { record(recorder, 1, 1, advance_kernel, count); }

void linear(Recorder& recorder, float* y, const float* x, const float* weights, const float* bias,
            int rows, int in, int out, Activation activation) {
  record(recorder, blocks_for(rows * out), kThreads, linear_kernel, y, x, weights, bias, rows, in,
         out, activation == Activation::relu);
}
void weight_gradient(Recorder& recorder, float* dweights, float* dbias, const float* dy,
                     const float* x, int rows, int in, int out) {
  record(recorder, blocks_for(in * out), kThreads, weight_gradient_kernel, dweights, dbias, dy, x,
         rows, in, out);
}
void input_gradient(Recorder& recorder, float* dx, const float* dy, const float* weights,
                    const float* x, int rows, int in, int out) {
  record(recorder, blocks_for(rows * in), kThreads, input_gradient_kernel, dx, dy, weights, x, rows,
         in, out);
}

}  // namespace stepscope::mlp
