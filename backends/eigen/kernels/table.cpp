// The table of one instruction set, from the list of kernels.
// SPDX-License-Identifier: Apache-2.0
#include "backends/eigen/kernels/table.h"

#include "backends/eigen/kernels/kernels.h"
#include "backends/eigen/kernels/library.h"

#define STEPSCOPE_TEXT_OF(x) #x
#define STEPSCOPE_TEXT(x) STEPSCOPE_TEXT_OF(x)

namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA {

constinit const Table table = {
    STEPSCOPE_TEXT(EIGEN_WORLD_VERSION) "." STEPSCOPE_TEXT(EIGEN_MAJOR_VERSION) "." STEPSCOPE_TEXT(
        EIGEN_MINOR_VERSION),
#define STEPSCOPE_EIGEN_KERNEL(op, numbers, in_place) op,
#include "backends/eigen/kernels/kernel_list.inc"
#undef STEPSCOPE_EIGEN_KERNEL
    product_and_bias,
    subtract_product,
    convolve,
    convolve_back,
    add_weight_grad,
};

}  // namespace stepscope::eigen::STEPSCOPE_EIGEN_ISA
