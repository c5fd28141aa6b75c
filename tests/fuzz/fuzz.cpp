// The entry that libFuzzer calls, and what targets hold their readers to.
// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/fuzz.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "ops/base/error.h"

namespace stepscope::fuzz {

void require(bool holds, std::string_view what) {
  if (holds) return;
  fmt::print(stderr, "fuzz: {}\n", what);
  std::abort();
}

bool accepts(const std::function<void()>& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    const std::string_view message = error.what();
    require(message.find('\n') == std::string_view::npos, "a message of several lines");
    require(message.find('\0') == std::string_view::npos, "a message with a zero byte");
    require(message.size() < 2000, "a message of more than 2000 bytes");
    return false;
  }
}

MemoryFile::MemoryFile(std::span<const std::uint8_t> bytes) {
  file_ = memfd_create("input", MFD_CLOEXEC);
  require(file_ >= 0, "memfd_create failed");
  const auto written = ::write(file_, bytes.data(), bytes.size());
  require(written == static_cast<ssize_t>(bytes.size()), "the input could not be written");
}

MemoryFile::~MemoryFile() { ::close(file_); }

std::filesystem::path MemoryFile::path() const { return fmt::format("/proc/self/fd/{}", file_); }

std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace stepscope::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stepscope::fuzz::run({data, size});
  return 0;
}
