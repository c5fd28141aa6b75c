// cublaslt_objects: handles and descriptors that were made and not destroyed, and reading them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "backends/cuda/sim/cublaslt.h"

namespace stepscope::cudasim {

constexpr std::size_t kBestAlignment = 16;  // bytes; the widest load of a device

bool is_live(cublasLtHandle_t handle);
// The descriptors of a product: of A, B, C and D.
cublasStatus_t read_problem(cublasLtMatmulDesc_t operation,
                            const std::array<cublasLtMatrixLayout_t, 4>& layouts, Problem& problem);

std::vector<std::string> live_descriptors();  // one line for each kind
void reset_descriptors();

}  // namespace stepscope::cudasim
