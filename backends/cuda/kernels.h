// kernels: what the backend lowers a site to. A maker settles everything (shape numbers, algorithm,
// descriptors) or throws unsupported with op and reason.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/api/kernel.h"
#include "backends/cuda/products.h"

namespace stepscope::cuda {

// Own device code for one op (device/); null: there is none. Never for products, but for one
// that is a part of an update (MatMulSgdUpdate). A kernel serves
// one stream at a time: its blocks may draw from tickets in device memory (device/ticket.cuh).
std::unique_ptr<Kernel> make_own_kernel(const OpSite& site);

}  // namespace stepscope::cuda
