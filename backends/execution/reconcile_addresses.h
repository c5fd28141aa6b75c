// The part of reconcile that follows values through the addresses of a log.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "backends/execution/executor.h"

namespace stepscope {

// Requires: the log has the calls of the program in order, with copied operands.
// Throws device as reconcile() says.
void check_addresses(const Program& program, std::span<const LogEntry> log, Mode mode,
                     const ModelMemory& memory);

}  // namespace stepscope
