// Updates of one or more tensors, all in one kernel, in place: each output lies where the input
// that it overwrites lies. The rate and the step count are read from memory at each launch. All
// parameters come first, then all gradients and so on.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/device/tensors.cuh"
#include "backends/cuda/device/ticket.cuh"
#include "backends/cuda/submission.cuh"

namespace stepscope::cuda {
namespace {

struct Sgd {
  static constexpr int kStates = 0;
  float rate;
  __device__ void operator()(Element& e) const { e.w -= rate * e.g; }
};

// m is the velocity.
struct Momentum {
  static constexpr int kStates = 1;
  float rate, mu;
  __device__ void operator()(Element& e) const {
    e.m = mu * e.m + e.g;
    e.w -= rate * e.m;
  }
};

// The factors of Adam, taken in f64: 1 - beta^t would cancel in f32. One quotient and one root
// remain for each element.
struct Adam {
  static constexpr int kStates = 2;
  float beta1, beta2, rest1, rest2, scaled_rate, root_factor, epsilon;
  __device__ void operator()(Element& e) const {
    e.m = beta1 * e.m + rest1 * e.g;
    e.v = beta2 * e.v + rest2 * e.g * e.g;
    e.w -= scaled_rate * e.m / (sqrtf(e.v) * root_factor + epsilon);
  }
};

__global__ void __launch_bounds__(kThreads)
    sgd(const __grid_constant__ Tensors tensors, const float* rate, int* step) {
  update(tensors, Sgd{*rate});
  count_step(step);
}

__global__ void __launch_bounds__(kThreads)
    scaled_sgd(const __grid_constant__ Tensors tensors, int* step) {
  update(tensors, ScaledSgd{});
  count_step(step);
}

__global__ void __launch_bounds__(kThreads)
    momentum(const __grid_constant__ Tensors tensors, const float* rate, int* step, float mu) {
  update(tensors, Momentum{*rate, mu});
  count_step(step);
}

// base^exponent by squares: no more than 62 products, each rounded once.
__device__ double power(double base, std::uint32_t exponent) {
  double result = 1.0;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

// The finished steps, for all blocks the same: the last block that has read them counts the step,
// if this update does. ticket {}: null for one block.
__device__ int read_and_count_step(const int* finished, int* step, std::uint32_t* ticket) {
  const int before = *finished;
  if (step == nullptr) return before;
  if (gridDim.x == 1 || drew_last(ticket, gridDim.x)) *step = before + 1;
  return before;
}

struct AdamSettings {
  double beta1, beta2;
  float epsilon;
};

__device__ Adam adam_of(const AdamSettings& settings, float rate, int finished) {
  const std::uint32_t t = static_cast<std::uint32_t>(finished) + 1;
  return {static_cast<float>(settings.beta1),
          static_cast<float>(settings.beta2),
          static_cast<float>(1.0 - settings.beta1),
          static_cast<float>(1.0 - settings.beta2),
          static_cast<float>(double{rate} / (1.0 - power(settings.beta1, t))),
          static_cast<float>(1.0 / sqrt(1.0 - power(settings.beta2, t))),
          settings.epsilon};
}

__global__ void __launch_bounds__(kThreads)
    adam(const __grid_constant__ Tensors tensors, const float* rate, const int* finished, int* step,
         std::uint32_t* ticket, AdamSettings settings) {
  SHARED_ARRAY(Adam, rule, [1]);
  if (threadIdx.x == 0) {
    rule[0] = adam_of(settings, *rate, read_and_count_step(finished, step, ticket));
  }
  __syncthreads();
  update(tensors, Adam{rule[0]});
}

struct Grid {
  Tensors tensors;
  std::uint32_t blocks;
};

// Operands: `states` + 2 of each tensor, kind by kind, then `scalars`, then the results.
Grid grid_of(Operands operands, const Update& numbers, int states, int scalars) {
  Grid grid{};
  const int n = numbers.tensors;
  const int results = (states + 2) * n + scalars;
  grid.tensors.count = n;
  for (int t = 0; t < n; ++t) {
    grid.tensors.of[t] = {at(operands, results + t),
                          at<const float>(operands, n + t),
                          states > 0 ? at(operands, results + n + t) : nullptr,
                          states > 1 ? at(operands, results + 2 * n + t) : nullptr,
                          numbers.elements[t],
                          grid.blocks};
    grid.blocks += blocks_for(numbers.elements[t], kChunk);
  }
  return grid;
}

}  // namespace

// W..., g...[, rate {}][, step] -> (W - rate g)...[, step + 1]; without a rate W - g
cudaError_t run_sgd(Submission& to, Operands operands, const Update& numbers) {
  const int n = numbers.tensors;
  const int scalars = (numbers.scaled_gradient ? 0 : 1) + (numbers.advance_step ? 1 : 0);
  const Grid grid = grid_of(operands, numbers, 0, scalars);
  int* step = numbers.advance_step ? at<int>(operands, 3 * n + scalars) : nullptr;
  if (numbers.scaled_gradient) {
    return submit(to, grid.blocks, kThreads, 0, scaled_sgd, grid.tensors, step);
  }
  return submit(to, grid.blocks, kThreads, 0, sgd, grid.tensors, at<const float>(operands, 2 * n),
                step);
}

// W..., g..., v..., rate {}[, step] -> (W - rate v')..., v'..., v' = mu v + g[, step + 1]
cudaError_t run_momentum(Submission& to, Operands operands, const Update& numbers) {
  const int n = numbers.tensors;
  const int scalars = numbers.advance_step ? 2 : 1;
  const Grid grid = grid_of(operands, numbers, 1, scalars);
  int* step = numbers.advance_step ? at<int>(operands, 5 * n + scalars) : nullptr;
  return submit(to, grid.blocks, kThreads, 0, momentum, grid.tensors,
                at<const float>(operands, 3 * n), step, numbers.mu);
}

// W..., g..., m..., v..., rate {}, step -> W'..., m' = b1 m + (1 - b1) g ...,
// v' = b2 v + (1 - b2) g g ...[, step + 1], with t = step + 1 and
// W' = W - rate (m' / (1 - b1^t)) / (sqrt(v' / (1 - b2^t)) + epsilon).
cudaError_t run_adam(Submission& to, Operands operands, const Update& numbers) {
  const int n = numbers.tensors;
  const Grid grid = grid_of(operands, numbers, 2, 2);
  int* step = numbers.advance_step ? at<int>(operands, 7 * n + 2) : nullptr;
  return submit(to, grid.blocks, kThreads, 0, adam, grid.tensors, at<const float>(operands, 4 * n),
                at<const int>(operands, 4 * n + 1), step, numbers.ticket,
                AdamSettings{numbers.beta1, numbers.beta2, numbers.epsilon});
}

}  // namespace stepscope::cuda
