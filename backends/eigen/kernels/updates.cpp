// Updates of one or more tensors: each output lies where the input it overwrites lies. The rate is
// read from memory at each launch. All parameters come first, then all gradients and so on.
// SPDX-License-Identifier: Apache-2.0
#include "backends/eigen/kernels/kernels.h"
#include "backends/eigen/kernels/library.h"

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {

// W..., g...[, rate {}][, step] -> (W - rate g)...[, step + 1]; without a rate W - g
void SgdUpdate(Operands operands, const Update& site) {
  const int tensors = site.tensors;
  const int step = 2 * tensors + (site.scaled_gradient ? 0 : 1);
  const int first_out = step + (site.advance_step ? 1 : 0);
  const float rate = site.scaled_gradient ? 1.0F : *f32(operands, 2 * tensors);
  for (int t = 0; t < tensors; ++t) {
    const std::int64_t n = site.elements[t];
    const auto w = in(operands, t, n);
    const auto g = in(operands, tensors + t, n);
    if (site.scaled_gradient) {
      out(operands, first_out + t, n) = w - g;
    } else {
      out(operands, first_out + t, n) = w - rate * g;
    }
  }
  if (site.advance_step) *i32(operands, first_out + tensors) = *i32(operands, step) + 1;
}

// W..., g..., v..., rate {}[, step] -> (W - rate v')..., v'..., v' = mu v + g[, step + 1]
void MomentumUpdate(Operands operands, const Update& site) {
  const int tensors = site.tensors;
  const float rate = *f32(operands, 3 * tensors);
  const int first_out = 3 * tensors + (site.advance_step ? 2 : 1);
  for (int t = 0; t < tensors; ++t) {
    const std::int64_t n = site.elements[t];
    auto v_out = out(operands, first_out + tensors + t, n);
    v_out = site.mu * in(operands, 2 * tensors + t, n) + in(operands, tensors + t, n);
    out(operands, first_out + t, n) = in(operands, t, n) - rate * v_out;
  }
  if (site.advance_step) {
    *i32(operands, first_out + 2 * tensors) = *i32(operands, 3 * tensors + 1) + 1;
  }
}

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
