// Steps by own kernels, in place behind what the library computed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backends/onednn/calls.h"
#include "backends/onednn/lower.h"
#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::onednn {

inline Step own_step(const Context& context, const OpSite& site, FixedList<int, 6> operands) {
  return {own_call(cpu::make_body(site, context.isa)), operands};
}

inline OpKind kind_of(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return OpKind::Relu;
    case Activation::tanh:
      return OpKind::Tanh;
    case Activation::sigmoid:
      return OpKind::Sigmoid;
    case Activation::none:
      break;
  }
  fail(Fault::unsupported, "onednn: no activation {}", static_cast<int>(activation));
}

// Of operand y, in place.
inline void add_activation(const Context& context, Activation activation, const TensorType& type,
                           int y, std::vector<Step>& steps) {
  if (activation == Activation::none) return;
  steps.push_back(own_step(context, {kind_of(activation), {}, {type}, {type}}, {y, y}));
}

}  // namespace stepscope::onednn
