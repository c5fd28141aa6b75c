// A session's parameters and states as tensors in memory, and back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "backends/execution/session.h"
#include "bench/files/host_tensor.h"

namespace stepscope {

// Parameters, optimizer states and the control block, by name. Waits for the session's stream.
std::vector<HostTensor> tensors_of(Session& session);

// Writes all of them. Throws bad_input, naming the tensor, when one is missing, too many, or of
// another type; then nothing was written.
void restore(Session& session, const std::vector<HostTensor>& tensors);

}  // namespace stepscope
