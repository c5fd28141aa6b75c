// What the kernel sources of one instruction set share: their namespace, the list of kernels and
// the reading of operands. Included by sources of this folder only.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/eigen/kernels/numbers.h"
#include "backends/eigen/kernels/table.h"

// The build defines it as v2, v3 or v4; an editor or a check of headers does not.
#ifndef STEPSCOPE_EIGEN_ISA
#define STEPSCOPE_EIGEN_ISA v2
#endif

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {

#define STEPSCOPE_EIGEN_KERNEL(op, numbers, in_place) \
  void op(Operands operands, const numbers& site);
#include "backends/eigen/kernels/kernel_list.inc"
#undef STEPSCOPE_EIGEN_KERNEL

void product_and_bias(Operands operands, const Product& site);
void subtract_product(const float* a, const float* b, float* c, const Product& site);
void convolve(const Convolution& site, const float* x, const float* w, const float* bias, float* y,
              float* columns);
void convolve_back(const Convolution& site, const float* dy, const float* w, float* dx,
                   float* columns);
void add_weight_grad(const Convolution& site, const float* x, const float* dy, float* dw,
                     float* columns);

inline float* f32(Operands operands, int i) { return reinterpret_cast<float*>(operands[i]); }
inline std::int32_t* i32(Operands operands, int i) {
  return reinterpret_cast<std::int32_t*>(operands[i]);
}

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
