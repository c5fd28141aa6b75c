// Cast: the same values in another element type. What does not fit becomes the nearest that does,
// and a NaN 0: callers must not count on it, but nothing undefined happens.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/submission.cuh"

namespace stepscope::cuda {
namespace {

template <class To>
__device__ To converted(double x);
template <>
__device__ float converted(double x) {
  return static_cast<float>(x);
}
template <>
__device__ double converted(double x) {
  return x;
}
template <>
__device__ std::int32_t converted(double x) {
  if (!(x == x)) return 0;
  return static_cast<std::int32_t>(fmin(fmax(x, -2147483648.0), 2147483647.0));
}
template <>
__device__ std::uint8_t converted(double x) {
  if (!(x == x)) return 0;
  return static_cast<std::uint8_t>(fmin(fmax(x, 0.0), 255.0));
}

// x {n} -> y {n}. Every type fits into double, so each element is rounded or truncated once.
template <class From, class To>
__global__ void __launch_bounds__(kThreads) cast(const From* x, To* y, std::uint32_t n) {
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) y[i] = converted<To>(static_cast<double>(x[i]));
}

template <class From, class To>
cudaError_t submit_cast(Submission& to, Operands operands, std::uint32_t n) {
  return submit(to, blocks_for(n), kThreads, 0, cast<From, To>, at<const From>(operands, 0),
                at<To>(operands, 1), n);
}

template <class From>
cudaError_t cast_from(Submission& to, Operands operands, const Casting& numbers) {
  switch (numbers.to) {
    case Number::f32:
      return submit_cast<From, float>(to, operands, numbers.elements);
    case Number::f64:
      return submit_cast<From, double>(to, operands, numbers.elements);
    case Number::i32:
      return submit_cast<From, std::int32_t>(to, operands, numbers.elements);
    case Number::u8:
      return submit_cast<From, std::uint8_t>(to, operands, numbers.elements);
  }
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t run_cast(Submission& to, Operands operands, const Casting& numbers) {
  switch (numbers.from) {
    case Number::f32:
      return cast_from<float>(to, operands, numbers);
    case Number::f64:
      return cast_from<double>(to, operands, numbers);
    case Number::i32:
      return cast_from<std::int32_t>(to, operands, numbers);
    case Number::u8:
      return cast_from<std::uint8_t>(to, operands, numbers);
  }
  return cudaErrorInvalidValue;
}

}  // namespace stepscope::cuda
