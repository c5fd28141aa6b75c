// The pointwise loops: the whole of a pointwise op, and the steps of a chain. Each element is
// computed alone, so that neither address nor position nor being part of a chain changes its bits.
// x, a, b and y {n}; operands are one array or do not overlap.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cpu/kernels/kernels.h"

namespace stepscope::cpu::STEPSCOPE_CPU_ISA {

void relu(const float* x, float* y, std::int64_t n);  // NaN stays; -0 and all below become +0
void tanh(const float* x, float* y, std::int64_t n);
void sigmoid(const float* x, float* y, std::int64_t n);
void scale(const float* x, float factor, float* y, std::int64_t n);
void add(const float* a, const float* b, float* y, std::int64_t n);
void sub(const float* a, const float* b, float* y, std::int64_t n);
void mul(const float* a, const float* b, float* y, std::int64_t n);
// dy, y -> dx: zero where y <= 0; a NaN in y lets dy through
void relu_grad(const float* dy, const float* y, float* dx, std::int64_t n);
void tanh_grad(const float* dy, const float* y, float* dx, std::int64_t n);     // dy (1 - y y)
void sigmoid_grad(const float* dy, const float* y, float* dx, std::int64_t n);  // dy y (1 - y)

}  // namespace stepscope::cpu::STEPSCOPE_CPU_ISA
