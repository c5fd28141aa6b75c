// Reading the resident memory of a process from /proc.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/process_memory.h"

#include <fstream>
#include <sstream>
#include <string_view>

namespace stepscope {
namespace {

// "VmHWM:     1234 kB" in bytes; nothing for another line.
std::optional<std::uint64_t> bytes_in(const std::string& line, std::string_view field) {
  std::istringstream words(line);
  std::string name, unit;
  std::uint64_t amount = 0;
  if (!(words >> name >> amount >> unit) || name != field || unit != "kB") return std::nullopt;
  return amount * 1024;
}

}  // namespace

ProcessMemory process_memory(const std::string& status_file) {
  ProcessMemory memory;
  std::ifstream status(status_file);
  for (std::string line; std::getline(status, line);) {
    if (const auto rss = bytes_in(line, "VmRSS:")) memory.rss = rss;
    if (const auto peak = bytes_in(line, "VmHWM:")) memory.peak_rss = peak;
  }
  return memory;
}

}  // namespace stepscope
