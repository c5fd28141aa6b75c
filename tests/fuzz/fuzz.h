// What the fuzzing targets share. Of a reader nothing may come out but a result or an Error; any
// other exception, a fault or a sanitizer's finding ends the process, and libFuzzer keeps the
// input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

namespace stepscope::fuzz {

// What LLVMFuzzerTestOneInput of a target does with an input.
void run(std::span<const std::uint8_t> input);

// Runs `read`. Its Error is a good answer, if its message is one line of less than 2000 bytes, none
// of them zero; ends the process otherwise. True when there was none.
bool accepts(const std::function<void()>& read);

// Ends the process, with `what`, unless `holds`.
void require(bool holds, std::string_view what);

// A file that has a path and lies in memory alone: for readers that take a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::uint8_t> bytes);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::filesystem::path path() const;

 private:
  int file_ = -1;
};

std::string_view as_text(std::span<const std::uint8_t> bytes);
std::span<const std::uint8_t> as_bytes(std::string_view text);

}  // namespace stepscope::fuzz
