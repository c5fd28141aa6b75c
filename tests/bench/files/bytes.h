// Bytes of files for tests, made here and not by the code under test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::test {

using FileBytes = std::vector<std::uint8_t>;

inline FileBytes bytes_from(std::string_view text) { return {text.begin(), text.end()}; }

// Little-endian, `size` bytes.
inline std::string number(std::uint64_t value, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

template <class T>
std::string elements_of(const std::vector<T>& list) {
  std::string text(list.size() * sizeof(T), '\0');
  if (!list.empty()) std::memcpy(text.data(), list.data(), text.size());
  return text;
}

template <class T>
std::vector<T> list_of(std::span<const std::byte> bytes) {
  std::vector<T> list(bytes.size() / sizeof(T));
  if (!list.empty()) std::memcpy(list.data(), bytes.data(), list.size() * sizeof(T));
  return list;
}

inline std::string safetensors_text(std::string_view header, std::string_view data = "") {
  return number(header.size(), 8) + std::string(header) + std::string(data);
}

inline std::string npy_text(std::string_view dict, std::string_view data, unsigned major = 1) {
  return std::string("\x93NUMPY") + number(major, 1) + number(0, 1) +
         number(dict.size(), major == 1 ? 2 : 4) + std::string(dict) + std::string(data);
}

// Raw deflate data.
inline std::string deflated(std::string_view content) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY),
            Z_OK);
  std::string packed(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::uint32_t crc_of(std::string_view content) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
}

// One member, and what its headers say of it: right where a test changes nothing.
struct ZipEntry {
  std::string name, packed;
  std::uint64_t method = 0, size = 0, crc = 0, flags = 0;
  std::uint64_t packed_bytes = packed.size();
  std::string local_name = name;
};

inline ZipEntry stored(std::string_view name, std::string_view content) {
  return {.name = std::string(name),
          .packed = std::string(content),
          .size = content.size(),
          .crc = crc_of(content)};
}

inline ZipEntry packed(std::string_view name, std::string_view content) {
  return {.name = std::string(name),
          .packed = deflated(content),
          .method = 8,
          .size = content.size(),
          .crc = crc_of(content)};
}

inline std::string zip_text(const std::vector<ZipEntry>& entries, std::string_view comment = "") {
  std::string file, directory;
  for (const ZipEntry& e : entries) {
    const std::string common = number(e.flags, 2) + number(e.method, 2) + number(0, 4) +
                               number(e.crc, 4) + number(e.packed_bytes, 4) + number(e.size, 4) +
                               number(e.name.size(), 2);
    directory += number(0x02014b50, 4) + number(20, 2) + number(20, 2) + common + number(0, 2) +
                 number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) +
                 number(file.size(), 4) + e.name;
    file += number(0x04034b50, 4) + number(20, 2) + common + number(0, 2) + e.local_name + e.packed;
  }
  const std::size_t begin = file.size();
  return file + directory + number(0x06054b50, 4) + number(0, 4) + number(entries.size(), 2) +
         number(entries.size(), 2) + number(directory.size(), 4) + number(begin, 4) +
         number(comment.size(), 2) + std::string(comment);
}

}  // namespace stepscope::test
