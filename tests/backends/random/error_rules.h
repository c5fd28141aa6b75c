// The rules of ErrorBound: one per op, from the errors of its inputs to those of its outputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/ir/graph.h"

namespace stepscope::test::rules {

// Unit roundoff of f32, and a shade more: the bound and the oracle round, too, in f64.
inline constexpr double kUnit = 0x1.004p-24;
// Smallest normal f32: what lies below may be flushed to zero.
inline constexpr double kTiny = 0x1p-126;
// Of exp, log, tanh, 1/(1+exp(-x)): eight units in the last place.
inline constexpr double kFunction = 16 * kUnit;

// Of n roundings one after the other, in units of the exact result.
inline double gamma(double n) { return n * kUnit / (1.0 - n * kUnit); }

// An operand, element by element. `value` is empty for integers and for the winners of a pool.
struct Input {
  std::span<const double> value;
  std::span<const double> error;
  std::span<const std::int32_t> integers;
  TensorType type;

  // The largest magnitude that a computed element can have.
  double most(std::size_t i) const { return std::abs(value[i]) + error[i]; }
};

struct Output {
  std::span<const double> value;
  std::span<double> error;
  TensorType type;
  std::span<const std::int32_t> integers;

  // `passed_on`: what the errors of the inputs do to the exact op; `rounding`: relative, of the op
  // itself. A result that is exactly zero whatever the inputs are stays so.
  void set(std::size_t i, double passed_on, double rounding) const {
    const double most = std::abs(value[i]) + passed_on;
    error[i] = most == 0.0 ? 0.0 : passed_on + rounding * most + kTiny;
  }
};

struct Call {
  const Op& op;
  std::vector<Input> in;
  std::vector<Output> out;
  bool& ambiguous;
};

// By the kind of the op; throws unsupported where there is no rule.
void apply(const Call& call);

void product(const Call& call);  // MatMul, Conv2d and its gradients
void add_bias(const Call& call);
void sum(const Call& call);   // ReduceSum, BiasGrad, ScatterAdd, MaxPoolGrad
void mean(const Call& call);  // AvgPool and its gradient
void gather(const Call& call);
void broadcast(const Call& call);

void max_pool(const Call& call);
void cast(const Call& call);
void reorder(const Call& call);

void add(const Call& call);  // and Sub
void mul(const Call& call);
void scale(const Call& call);
void fill(const Call& call);
void relu(const Call& call);
void relu_grad(const Call& call);
void tanh(const Call& call);
void tanh_grad(const Call& call);
void sigmoid(const Call& call);
void sigmoid_grad(const Call& call);

void softmax_cross_entropy(const Call& call);
void softmax_cross_entropy_grad(const Call& call);
void first_largest(const Call& call);  // Argmax and CorrectCount

void product_with_bias(const Call& call);  // Linear, Conv2dBias
void gated_product(const Call& call);      // MatMulReluGrad, Conv2dInputReluGrad
void gated_max_pool_grad(const Call& call);
void product_with_sums(const Call& call);  // MatMulBiasGrad, Conv2dWeightBiasGrad
void product_update(const Call& call);     // MatMulUpdate, Conv2dWeightUpdate
void loss_with_grad(const Call& call);
void pointwise_chain(const Call& call);

void sgd(const Call& call);
void momentum(const Call& call);
void adam(const Call& call);
void scheduled_rate(const Call& call);

}  // namespace stepscope::test::rules
