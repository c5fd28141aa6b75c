// Pointwise ops, AddBias and Broadcast. Each element is computed alone, so no address and no
// position changes its bits.
// SPDX-License-Identifier: Apache-2.0
#include "backends/eigen/kernels/kernels.h"
#include "backends/eigen/kernels/library.h"

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {

// a, b, y {elements}
void Add(Operands operands, const Elements& site) {
  const auto n = site.elements;
  out(operands, 2, n) = in(operands, 0, n) + in(operands, 1, n);
}

void Sub(Operands operands, const Elements& site) {
  const auto n = site.elements;
  out(operands, 2, n) = in(operands, 0, n) - in(operands, 1, n);
}

void Mul(Operands operands, const Elements& site) {
  const auto n = site.elements;
  out(operands, 2, n) = in(operands, 0, n) * in(operands, 1, n);
}

void Scale(Operands operands, const Scaled& site) {
  const auto n = site.elements;
  out(operands, 1, n) = in(operands, 0, n) * site.factor;
}

void Fill(Operands operands, const Scaled& site) {
  out(operands, 0, site.elements).setConstant(site.factor);
}

// dy, y -> dx = dy (1 - y y)
void TanhGrad(Operands operands, const Elements& site) {
  const auto n = site.elements;
  const auto y = in(operands, 1, n);
  out(operands, 2, n) = in(operands, 0, n) * (1.0F - y * y);
}

// dy, y -> dx = dy y (1 - y)
void SigmoidGrad(Operands operands, const Elements& site) {
  const auto n = site.elements;
  const auto y = in(operands, 1, n);
  out(operands, 2, n) = in(operands, 0, n) * y * (1.0F - y);
}

// x {N, C, inner}, bias {C} -> y as x
void AddBias(Operands operands, const Axis& site) {
  const auto [N, C, inner] = site;
  const float* x = f32(operands, 0);
  const float* bias = f32(operands, 1);
  float* y = f32(operands, 2);
  if (inner == 1) {
    Map<Rectangle>(y, N, C) = Map<const Rectangle>(x, N, C).rowwise() + Map<const Row>(bias, C);
    return;
  }
  for (std::int64_t i = 0; i < N * C; ++i) {
    Map<Row>(y + i * inner, inner) = Map<const Row>(x + i * inner, inner) + bias[i % C];
  }
}

// x {outer, inner} -> y {outer, depth, inner}
void Broadcast(Operands operands, const Axis& site) {
  const auto [outer, depth, inner] = site;
  const float* x = f32(operands, 0);
  float* y = f32(operands, 1);
  for (std::int64_t i = 0; i < outer; ++i) {
    if (inner == 1) {
      Map<Row>(y + i * depth, depth).setConstant(x[i]);
      continue;
    }
    for (std::int64_t d = 0; d < depth; ++d) {
      Map<Row>(y + (i * depth + d) * inner, inner) = Map<const Row>(x + i * inner, inner);
    }
  }
}

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
