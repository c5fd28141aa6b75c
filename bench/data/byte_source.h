// ByteSource: the content of a file from front to back, inflated when the file is gzip.
// What a file is, its first bytes say; its name says nothing.
//
// Every message names the file and the byte. Throws io when the file cannot be read, bad_input when
// its gzip data are broken.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace stepscope {

class ByteSource {
 public:
  enum class Form : std::uint8_t { plain, gzip };

  explicit ByteSource(const std::filesystem::path& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  const std::filesystem::path& path() const;
  Form form() const;
  std::uint64_t file_bytes() const;  // on disk, when it was opened

  // Fills `to`; less only when the content ends. Returns how many bytes there were. The members of
  // a gzip file follow one another; a byte behind the last is an error. The checksum of a member
  // has been checked once a read has gone beyond its last byte.
  std::size_t read(std::span<std::uint8_t> to);

  // Reads on, keeping nothing, to the end of the content or until `limit` bytes were skipped.
  std::uint64_t skip(std::uint64_t limit);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stepscope
