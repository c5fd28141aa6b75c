// The kernels of one instruction set as a table of functions: all that the rest of the program sees
// of them. The tables are constants; choosing one is the whole choice of an instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "backends/cpu/isa.h"
#include "backends/eigen/kernels/numbers.h"

namespace stepscope::eigen {

// Addresses of the inputs, then of the outputs. Any address that fits the element type will do;
// multiples of 64 bytes are fastest.
using Operands = std::byte* const*;

struct Table {
  const char* library_version;  // of Eigen: 3.4.0
#define STEPSCOPE_EIGEN_KERNEL(op, numbers, in_place) \
  void (*op)(Operands operands, const numbers& site);
#include "backends/eigen/kernels/kernel_list.inc"
#undef STEPSCOPE_EIGEN_KERNEL
  // Parts of composed kernels; what they take stands where they are defined.
  void (*product_and_bias)(Operands operands, const Product& site);
  void (*subtract_product)(const float* a, const float* b, float* c, const Product& site);
  void (*convolve)(const Convolution& site, const float* x, const float* w, const float* bias,
                   float* y, float* columns);
  void (*convolve_back)(const Convolution& site, const float* dy, const float* w, float* dx,
                        float* columns);
  void (*add_weight_grad)(const Convolution& site, const float* x, const float* dy, float* dw,
                          float* columns);
};

const Table& table_of(cpu::Isa isa);

namespace v2 {
extern const Table table;
}
namespace v3 {
extern const Table table;
}
namespace v4 {
extern const Table table;
}

}  // namespace stepscope::eigen
