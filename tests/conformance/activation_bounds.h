// What an activation makes of a result that is off already.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "tests/conformance/tolerance.h"

namespace stepscope::conformance {

inline constexpr std::int64_t kSigmoidRoundings = kExpRoundings + 2;  // exp, sum, quotient

// y = activation(x), computed from an x that is off by `off`: slopes are at most 1, of sigmoid 1/4.
inline double activation_error(Activation activation, double y, double off) {
  switch (activation) {
    case Activation::none:
    case Activation::relu:
      return off;
    case Activation::tanh:
      return off + gamma(kTanhRoundings) * (std::abs(y) + off);
    case Activation::sigmoid:
      return off / 4.0 + gamma(kSigmoidRoundings) * (std::abs(y) + off / 4.0);
  }
  return off;
}

inline constexpr const char* kActivationNames[] = {"none", "relu", "tanh", "sigmoid"};
inline constexpr Activation kActivations[] = {Activation::none, Activation::relu, Activation::tanh,
                                              Activation::sigmoid};

}  // namespace stepscope::conformance
