// Memory of this whole process, as the system counts it: with libraries, code and whatever else.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stepscope {

// Bytes; empty where the system does not tell.
struct ProcessMemory {
  std::optional<std::uint64_t> rss;       // resident now
  std::optional<std::uint64_t> peak_rss;  // at most, since the process began
};

// Reads /proc/self/status; a test gives another file.
ProcessMemory process_memory(const std::string& status_file = "/proc/self/status");

}  // namespace stepscope
