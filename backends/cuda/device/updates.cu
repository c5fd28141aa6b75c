// Updates of one or more tensors, all in one kernel, in place: each output lies where the input
// that it overwrites lies. The rate and the step count are read from memory at each launch. All
// parameters come first, then all gradients and so on.
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device/run.h"
#include "backends/cuda/submission.cuh"

namespace stepscope::cuda {
namespace {

// One tensor: w {n}, g {n}, and what its rule keeps, m {n} and v {n}.
struct Tensor {
  float* w;
  const float* g;
  float* m;
  float* v;
  std::uint32_t elements, first_block;
};

struct Tensors {
  int count;
  Tensor of[kMaxTensors];
};

// One element: w, g and the states, which it changes.
struct Element {
  float w, g, m, v;
};

struct Sgd {
  static constexpr int kStates = 0;
  float rate;
  __device__ void operator()(Element& e) const { e.w -= rate * e.g; }
};

struct ScaledSgd {
  static constexpr int kStates = 0;
  __device__ void operator()(Element& e) const { e.w -= e.g; }
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

constexpr std::uint32_t kWidth = 4;  // elements of a thread: one vector
constexpr std::uint32_t kChunk = kWidth * kThreads;

// x {n}, a multiple of kWidth and more -> the i-th vector of it
__device__ float4& vector_of(float* x, std::uint32_t i) { return reinterpret_cast<float4*>(x)[i]; }

template <class Rule>
__device__ void update_vector(const Tensor& tensor, std::uint32_t i, const Rule& rule) {
  const float4 w = vector_of(tensor.w, i);
  const float4 g = reinterpret_cast<const float4*>(tensor.g)[i];
  float4 m{}, v{};
  if constexpr (Rule::kStates > 0) m = vector_of(tensor.m, i);
  if constexpr (Rule::kStates > 1) v = vector_of(tensor.v, i);
  Element a{w.x, g.x, m.x, v.x}, b{w.y, g.y, m.y, v.y};
  Element c{w.z, g.z, m.z, v.z}, d{w.w, g.w, m.w, v.w};
  rule(a);
  rule(b);
  rule(c);
  rule(d);
  vector_of(tensor.w, i) = make_float4(a.w, b.w, c.w, d.w);
  if constexpr (Rule::kStates > 0) vector_of(tensor.m, i) = make_float4(a.m, b.m, c.m, d.m);
  if constexpr (Rule::kStates > 1) vector_of(tensor.v, i) = make_float4(a.v, b.v, c.v, d.v);
}

template <class Rule>
__device__ void update_one(const Tensor& tensor, std::uint32_t i, const Rule& rule) {
  Element e{tensor.w[i], tensor.g[i], 0.0f, 0.0f};
  if constexpr (Rule::kStates > 0) e.m = tensor.m[i];
  if constexpr (Rule::kStates > 1) e.v = tensor.v[i];
  rule(e);
  tensor.w[i] = e.w;
  if constexpr (Rule::kStates > 0) tensor.m[i] = e.m;
  if constexpr (Rule::kStates > 1) tensor.v[i] = e.v;
}

// The tensor of this block, and its part of it.
template <class Rule>
__device__ void update(const Tensors& tensors, const Rule& rule) {
  int t = 0;
  while (t + 1 < tensors.count && blockIdx.x >= tensors.of[t + 1].first_block) ++t;
  const Tensor& tensor = tensors.of[t];
  const std::uint32_t i = (blockIdx.x - tensor.first_block) * kThreads + threadIdx.x;
  const std::uint32_t vectors = tensor.elements / kWidth;
  if (i < vectors) update_vector(tensor, i, rule);
  const std::uint32_t last = kWidth * vectors + i;
  if (i < kWidth && last < tensor.elements) update_one(tensor, last, rule);
}

// No other thread reads the step count here.
__device__ void count_step(int* step) {
  if (step != nullptr && blockIdx.x == 0 && threadIdx.x == 0) ++*step;
}

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
// if this update does. ticket {}: zero before and after, null for one block.
__device__ int read_and_count_step(const int* finished, int* step, std::uint32_t* ticket) {
  const int before = *finished;
  if (step == nullptr) return before;
  if (gridDim.x > 1) {
    __threadfence();
    if (atomicAdd(ticket, 1u) != gridDim.x - 1) return before;
    __threadfence();
    atomicExch(ticket, 0u);
  }
  *step = before + 1;
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
