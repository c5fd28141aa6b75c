// output_bytes: what a kernel asks for each of its outputs, in one number.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "backends/api/kernel.h"

namespace stepscope {

// How many bytes output `k` of the kernel takes: what it saves, what its layout takes, or dense.
std::size_t output_bytes(const Kernel& kernel, std::size_t k);

}  // namespace stepscope
