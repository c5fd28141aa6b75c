// PointwiseChain: a short program that each thread runs on four elements in registers. Nothing lies
// between two steps but those, so output 0 may lie over any input.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device/functions.cuh"
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/submission.cuh"

namespace stepscope::cuda {
namespace {

constexpr std::uint32_t kWidth = 4;  // elements of a thread: one vector

struct Values {
  float of[kWidth];
};

struct Inputs {
  const float* x[kMaxSteps + 1];  // null behind the last

  template <class Visit>
  void each_address(Visit visit) const {
    for (const float* input : x) visit(input);
  }
};

// x {n} from `first` on; what is behind the end is zero.
__device__ Values load(const float* x, std::uint32_t first, std::uint32_t n) {
  if (first + kWidth <= n) {
    const float4 a = *reinterpret_cast<const float4*>(x + first);
    return {{a.x, a.y, a.z, a.w}};
  }
  Values values{};
  for (std::uint32_t i = 0; i < kWidth; ++i) {
    if (first + i < n) values.of[i] = x[first + i];
  }
  return values;
}

__device__ void store(float* y, std::uint32_t first, std::uint32_t n, const Values& values) {
  if (first + kWidth <= n) {
    *reinterpret_cast<float4*>(y + first) =
        make_float4(values.of[0], values.of[1], values.of[2], values.of[3]);
    return;
  }
  for (std::uint32_t i = 0; i < kWidth; ++i) {
    if (first + i < n) y[first + i] = values.of[i];
  }
}

template <class F>
__device__ Values each(const Values& a, const Values& b, F f) {
  Values y;
  for (std::uint32_t i = 0; i < kWidth; ++i) y.of[i] = f(a.of[i], b.of[i]);
  return y;
}

// `b` counts for nothing where the loop takes one operand.
__device__ Values apply(const LoopStep& step, const Values& a, const Values& b) {
  switch (step.loop) {
    case Loop::relu:
      return each(a, b, [](float x, float) { return relu(x); });
    case Loop::tanh:
      return each(a, b, [](float x, float) { return tanhf(x); });
    case Loop::sigmoid:
      return each(a, b, [](float x, float) { return sigmoid(x); });
    case Loop::scale:
      return each(a, b, [factor = step.factor](float x, float) { return x * factor; });
    case Loop::add:
      return each(a, b, [](float x, float y) { return x + y; });
    case Loop::sub:
      return each(a, b, [](float x, float y) { return x - y; });
    case Loop::mul:
      return each(a, b, [](float x, float y) { return x * y; });
    case Loop::relu_grad:
      return each(a, b, [](float dy, float y) { return relu_grad(dy, y); });
    case Loop::tanh_grad:
      return each(a, b, [](float dy, float y) { return tanh_grad(dy, y); });
    case Loop::sigmoid_grad:
      return each(a, b, [](float dy, float y) { return sigmoid_grad(dy, y); });
  }
  return a;
}

// inputs {n} each -> y {n}. Both structs are indexed by what is known only here: as constants of
// the grid they are read where they lie and not copied to the stack of each thread.
__global__ void __launch_bounds__(kThreads)
    run_steps(const __grid_constant__ Inputs inputs, float* y,
              const __grid_constant__ Chain chain) {
  const std::uint32_t first = kWidth * (blockIdx.x * kThreads + threadIdx.x);
  if (first >= chain.elements) return;
  Values current = load(inputs.x[0], first, chain.elements);
  int next = 1;
  for (int s = 0; s < chain.count; ++s) {
    const LoopStep& step = chain.steps[s];
    Values other = current;
    if (step.operands == LoopOperands::current_first ||
        step.operands == LoopOperands::current_second) {
      other = load(inputs.x[next++], first, chain.elements);
    }
    current = step.operands == LoopOperands::current_second ? apply(step, other, current)
                                                            : apply(step, current, other);
  }
  store(y, first, chain.elements, current);
}

}  // namespace

cudaError_t run_chain(Submission& to, Operands operands, const Chain& numbers) {
  Inputs inputs{};
  for (int i = 0; i < numbers.inputs; ++i) inputs.x[i] = at<const float>(operands, i);
  const std::uint32_t vectors = blocks_for(numbers.elements, kWidth);
  return submit(to, blocks_for(vectors), kThreads, 0, run_steps, inputs,
                at(operands, numbers.inputs), numbers);
}

}  // namespace stepscope::cuda
