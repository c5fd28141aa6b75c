// loop_steps: the steps of a pointwise chain as kernels read them, of processors and of GPUs. Plain
// data, for device code too; what makes them of attributes is chain_steps.h.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace stepscope {

enum class Loop : std::uint8_t {
  relu,
  tanh,
  sigmoid,
  scale,
  add,
  sub,
  mul,
  relu_grad,
  tanh_grad,
  sigmoid_grad
};
enum class LoopOperands : std::uint8_t { current, current_first, current_second, both };

struct LoopStep {
  Loop loop;
  LoopOperands operands;
  float factor;
};

inline constexpr int kMaxSteps = 12;  // kMaxChainSteps of ops/ir/chain_attrs.h

}  // namespace stepscope
