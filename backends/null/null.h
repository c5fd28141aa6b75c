// null: runs nothing. It counts always and logs by a switch, for tests of executors and for the
// cost of dispatch alone; and it is the folder to copy for a new backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/api/backend.h"

namespace stepscope::null {

// Threads are recorded and never used. Every op is supported, added ones too.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

}  // namespace stepscope::null
