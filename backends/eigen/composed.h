// Kernels that are composed of Eigen's products and own parts: fused products, and convolutions.
// They report a call of the library for the products, and an own call for each kind of own work
// (columns, epilogue, sums), however many blocks it is done in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/api/kernel.h"
#include "backends/cpu/isa.h"

namespace stepscope::eigen {

struct Machine {
  int threads;
  cpu::Isa isa;
};

// Linear, MatMulReluGrad, MatMulBiasGrad and MatMulUpdate. On machine.threads threads the product,
// the own part on the calling one.
std::unique_ptr<Kernel> make_fused_product(const OpSite& site, Machine machine);

// Conv2d, its gradients and their fused forms, row-major. The threads divide the images among
// themselves. Scratch: columns for each thread, and weight gradients for each but the first.
std::unique_ptr<Kernel> make_convolution(const OpSite& site, Machine machine);
std::unique_ptr<Kernel> make_input_grad(const OpSite& site, Machine machine);
std::unique_ptr<Kernel> make_weight_grad(const OpSite& site, Machine machine);

}  // namespace stepscope::eigen
