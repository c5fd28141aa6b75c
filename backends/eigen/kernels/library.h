// The one includer of Eigen: in a namespace per instruction set, with its packing buffers on the
// stack, and seen through maps of plain memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/eigen/kernels/kernels.h"

// Eigen's functions are templates, emitted in every translation unit that uses them and merged by
// name. Under one name the linker might keep the AVX-512 copy for all.
#define STEPSCOPE_PASTE_OF(a, b) a##b
#define STEPSCOPE_PASTE(a, b) STEPSCOPE_PASTE_OF(a, b)
#define Eigen STEPSCOPE_PASTE(Eigen_, STEPSCOPE_EIGEN_ISA)
#define EIGEN_STACK_ALLOCATION_LIMIT 1048576
#include <Eigen/Core>

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {

static_assert(EIGEN_STACK_ALLOCATION_LIMIT == kStackBufferBytes);

// Maps assume no alignment: conformance runs kernels 4 bytes off, where an aligned load would
// fault. Products pack their operands and pointwise loops start at an aligned element either way.
template <class Dense>
using Map = Eigen::Map<Dense>;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rectangle = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Array<float, 1, Eigen::Dynamic>;

// Operand i as a row of n elements.
inline Map<const Row> in(Operands operands, int i, std::int64_t n) {
  return Map<const Row>(f32(operands, i), n);
}
inline Map<Row> out(Operands operands, int i, std::int64_t n) {
  return Map<Row>(f32(operands, i), n);
}

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
