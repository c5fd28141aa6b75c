// Pointwise kernels: four elements a thread as one vector, the last three at most one by one. Each
// element is computed alone, so output 0 may lie over any input.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device/functions.cuh"
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/submission.cuh"

namespace stepscope::cuda {
namespace {

// x {n} -> y {n} = f(x)
template <class F>
__global__ void __launch_bounds__(kThreads) map(const float* x, float* y, std::uint32_t n, F f) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  const std::uint32_t vectors = n / 4;
  if (i < vectors) {
    const float4 a = reinterpret_cast<const float4*>(x)[i];
    reinterpret_cast<float4*>(y)[i] = make_float4(f(a.x), f(a.y), f(a.z), f(a.w));
  }
  const std::uint32_t last = 4 * vectors + i;
  if (i < 4 && last < n) y[last] = f(x[last]);
}

// a {n}, b {n} -> y {n} = f(a, b)
template <class F>
__global__ void __launch_bounds__(kThreads)
    map2(const float* a, const float* b, float* y, std::uint32_t n, F f) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  const std::uint32_t vectors = n / 4;
  if (i < vectors) {
    const float4 left = reinterpret_cast<const float4*>(a)[i];
    const float4 right = reinterpret_cast<const float4*>(b)[i];
    reinterpret_cast<float4*>(y)[i] =
        make_float4(f(left.x, right.x), f(left.y, right.y), f(left.z, right.z), f(left.w, right.w));
  }
  const std::uint32_t last = 4 * vectors + i;
  if (i < 4 && last < n) y[last] = f(a[last], b[last]);
}

// y {n} = value
__global__ void __launch_bounds__(kThreads) fill(float* y, std::uint32_t n, float value) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) y[i] = value;
}

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Difference {
  __device__ float operator()(float a, float b) const { return a - b; }
};
struct Product {
  __device__ float operator()(float a, float b) const { return a * b; }
};
struct ReluGrad {
  __device__ float operator()(float dy, float y) const { return relu_grad(dy, y); }
};
struct TanhGrad {
  __device__ float operator()(float dy, float y) const { return tanh_grad(dy, y); }
};
struct SigmoidGrad {
  __device__ float operator()(float dy, float y) const { return sigmoid_grad(dy, y); }
};
struct Times {
  float factor;
  __device__ float operator()(float x) const { return x * factor; }
};
struct Relu {
  __device__ float operator()(float x) const { return relu(x); }
};
struct Tanh {
  __device__ float operator()(float x) const { return tanhf(x); }
};
struct Sigmoid {
  __device__ float operator()(float x) const { return sigmoid(x); }
};

template <class F>
cudaError_t submit_map(Submission& to, Operands operands, std::uint32_t n, F f) {
  return submit(to, blocks_for(n / 4), kThreads, 0, map<F>, at<const float>(operands, 0),
                at(operands, 1), n, f);
}

template <class F>
cudaError_t submit_map2(Submission& to, Operands operands, std::uint32_t n, F f) {
  return submit(to, blocks_for(n / 4), kThreads, 0, map2<F>, at<const float>(operands, 0),
                at<const float>(operands, 1), at(operands, 2), n, f);
}

}  // namespace

cudaError_t run_add(Submission& to, Operands operands, const Elements& numbers) {
  return submit_map2(to, operands, numbers.elements, Sum{});
}
cudaError_t run_sub(Submission& to, Operands operands, const Elements& numbers) {
  return submit_map2(to, operands, numbers.elements, Difference{});
}
cudaError_t run_mul(Submission& to, Operands operands, const Elements& numbers) {
  return submit_map2(to, operands, numbers.elements, Product{});
}
cudaError_t run_relu_grad(Submission& to, Operands operands, const Elements& numbers) {
  return submit_map2(to, operands, numbers.elements, ReluGrad{});
}
cudaError_t run_tanh_grad(Submission& to, Operands operands, const Elements& numbers) {
  return submit_map2(to, operands, numbers.elements, TanhGrad{});
}
cudaError_t run_sigmoid_grad(Submission& to, Operands operands, const Elements& numbers) {
  return submit_map2(to, operands, numbers.elements, SigmoidGrad{});
}

cudaError_t run_scale(Submission& to, Operands operands, const Scaled& numbers) {
  return submit_map(to, operands, numbers.elements, Times{numbers.factor});
}
cudaError_t run_relu(Submission& to, Operands operands, const Elements& numbers) {
  return submit_map(to, operands, numbers.elements, Relu{});
}
cudaError_t run_tanh(Submission& to, Operands operands, const Elements& numbers) {
  return submit_map(to, operands, numbers.elements, Tanh{});
}
cudaError_t run_sigmoid(Submission& to, Operands operands, const Elements& numbers) {
  return submit_map(to, operands, numbers.elements, Sigmoid{});
}

cudaError_t run_fill(Submission& to, Operands operands, const Scaled& numbers) {
  return submit(to, blocks_for(numbers.elements), kThreads, 0, fill, at(operands, 0),
                numbers.elements, numbers.factor);
}

}  // namespace stepscope::cuda
