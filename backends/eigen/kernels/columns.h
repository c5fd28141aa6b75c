// The columns of an image: for each place of a convolution's kernel the element of x that it meets,
// for each place of y. A convolution is a product of matrices with them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/eigen/kernels/kernels.h"

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {

// Rows [begin, end) of y, whose columns are made at once.
struct RowsOfY {
  std::int64_t begin, end;
};

// x {C, H, W} -> columns {C KH KW, rows of y, OW}; zeros where x is padded
void make_columns(const Convolution& site, RowsOfY rows, const float* x, float* columns);

// columns {C KH KW, rows of y, OW}, added to dx {C, H, W} in the order in which they lie;
// those that met padding may be changed.
void add_columns(const Convolution& site, RowsOfY rows, float* columns, float* dx);

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
