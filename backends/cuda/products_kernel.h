// products_kernel: the kernel of a product, and the own part that may follow the library's call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backends/api/kernel.h"
#include "backends/cuda/products_library.h"
#include "backends/cuda/reads_saved.h"
#include "backends/cuda/submission.h"

namespace stepscope::cuda {

enum class OwnPart : std::uint8_t {
  none,
  relu_gate,    // the product goes where the ReLU's output is above zero, in place
  tanh,         // in place
  sigmoid,      // in place
  column_sums,  // of b, beside the product
  relu_mask,    // relu in place, and its mask
  mask_gate,    // the product goes where its bit of the mask is set, in place
};

class ProductKernel final : public Kernel, public ReadsSaved {
 public:
  // Requires: the algorithm was chosen for this product, and the handle outlives the kernel.
  ProductKernel(const OpSite& site, cublasLtHandle_t handle, const Problem& problem,
                std::unique_ptr<LibraryProduct> product, const Algorithm& algorithm, OwnPart own);

  std::size_t saved_bytes(std::size_t i) const override;

 private:
  static void launch(const Launch& call, Stream& stream);
  ProductOperands operands_of(const Launch& call) const;
  cudaError_t run_own(const Launch& call, Submission& to) const;

  cublasLtHandle_t handle_;
  Problem problem_;
  std::unique_ptr<LibraryProduct> product_;
  Algorithm algorithm_;
  OwnPart own_;
  std::size_t first_;                    // of the inputs: where a stands, b behind it
  std::string library_what_, own_what_;  // for messages, so that a launch makes no text
};

}  // namespace stepscope::cuda
