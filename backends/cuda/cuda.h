// cuda: the backend of NVIDIA's GPUs. Products are cuBLASLt's, everything else is own device code.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/api/backend.h"

namespace stepscope::cuda {

// Throws unsupported with the reason when there is no device to use.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

}  // namespace stepscope::cuda
