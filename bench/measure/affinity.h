// Which processors a thread may run on, and pinning it to one of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace stepscope {

// Processors that the calling thread may run on, ascending; empty when the system does not say.
std::vector<int> allowed_cpus();

// Binds the calling thread to one processor. Nothing when it is done, else why it was refused.
std::optional<std::string> pin_this_thread(int cpu);

}  // namespace stepscope
