// Tensors: the parameters that one kernel updates, element by element, each tensor by blocks of its
// own. What becomes of an element is a rule's matter.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cuda/device/numbers.h"
#include "backends/cuda/device/operands.h"
#include "backends/cuda/device_compat.cuh"

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

  template <class Visit>
  void each_address(Visit visit) const {
    for (int t = 0; t < count; ++t) {
      visit(of[t].w);
      visit(of[t].g);
      visit(of[t].m);
      visit(of[t].v);
    }
  }
};

// One element: w, g and the states, which a rule changes.
struct Element {
  float w, g, m, v;
};

// The gradient carries the rate already.
struct ScaledSgd {
  static constexpr int kStates = 0;
  __device__ void operator()(Element& e) const { e.w -= e.g; }
};

constexpr std::uint32_t kWidth = 4;  // elements of a thread: one vector
constexpr std::uint32_t kChunk = kWidth * kThreads;

// x {n}, a multiple of kWidth and more -> the i-th vector of it
__device__ inline float4& vector_of(float* x, std::uint32_t i) {
  return reinterpret_cast<float4*>(x)[i];
}

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

// The tensor of this block, and its part of it. Requires: kThreads threads; a tensor of this block.
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

// No other thread reads the step count in the same kernel.
__device__ inline void count_step(int* step) {
  if (step != nullptr && blockIdx.x == 0 && threadIdx.x == 0) ++*step;
}

}  // namespace
}  // namespace stepscope::cuda
