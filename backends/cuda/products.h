// products: MatMul and what is fused around it, through cuBLASLt.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "backends/api/kernel.h"
#include "backends/cuda/handles.h"

namespace stepscope::cuda {

// On: inputs of products may be rounded to TF32. Off by default: CUBLAS_COMPUTE_32F.
enum class Tf32 : std::uint8_t { off, on };

// The library's handle and what all products share. Outlives their kernels.
class Products {
 public:
  explicit Products(Tf32 tf32);
  // MatMul, Linear, MatMulReluGrad, MatMulBiasGrad, MatMulUpdate; null for other ops. The workspace
  // is the kernel's scratch. Algorithms: the heuristic's first that is deterministic and, but for a
  // recorded reason, no split-K; chosen here once, so that all modes share it.
  std::unique_ptr<Kernel> make(const OpSite& site) const;
  std::string version() const;  // of cuBLASLt

 private:
  LtHandle handle_;
  Tf32 tf32_;
};

}  // namespace stepscope::cuda
