// Pointwise ops, written down once more.
// SPDX-License-Identifier: Apache-2.0
#include "tests/backends/random/evaluate.h"

#include <cmath>

#include "ops/base/check.h"
#include "ops/ir/op_def.h"

namespace stepscope::test {

double evaluate(OpKind kind, double factor, double a, double b) {
  switch (kind) {
    case OpKind::Relu:
      return a > 0.0 ? a : 0.0;
    case OpKind::Tanh:
      return std::tanh(a);
    case OpKind::Sigmoid:
      return 1.0 / (1.0 + std::exp(-a));
    case OpKind::Scale:
      return factor * a;
    case OpKind::Add:
      return a + b;
    case OpKind::Sub:
      return a - b;
    case OpKind::Mul:
      return a * b;
    case OpKind::ReluGrad:
      return b <= 0.0 ? 0.0 : a;
    case OpKind::TanhGrad:
      return a * (1.0 - b * b);
    case OpKind::SigmoidGrad:
      return a * b * (1.0 - b);
    default:
      fail(Fault::unsupported, "evaluate: {} is no step of a chain", name(kind));
  }
}

}  // namespace stepscope::test
