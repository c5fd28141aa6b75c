// Scalar functions that plain and fused kernels share. Special values as docs/vocabulary.md
// specifies them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "ops/ir/attrs.h"

namespace stepscope::reference {

// NaN stays NaN; -0 and everything below become +0.
inline double relu(double x) { return x > 0.0 || std::isnan(x) ? x : 0.0; }
// Zero where y <= 0; a NaN in y lets dy through.
inline double relu_grad(double dy, double y) { return y <= 0.0 ? 0.0 : dy; }

inline double tanh_grad(double dy, double y) { return dy * (1.0 - y * y); }

inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
inline double sigmoid_grad(double dy, double y) { return dy * y * (1.0 - y); }

inline double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return relu(x);
    case Activation::tanh:
      return std::tanh(x);
    case Activation::sigmoid:
      return sigmoid(x);
  }
  return x;
}

}  // namespace stepscope::reference
