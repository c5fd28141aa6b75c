// IDX and gzip bytes for tests, made here and not by the code under test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace stepscope {

using Bytes = std::vector<std::uint8_t>;

inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// 32-bit big-endian words.
inline Bytes words(std::initializer_list<std::uint32_t> values) {
  Bytes bytes;
  for (const std::uint32_t value : values) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<std::uint8_t>(value >> shift));
    }
  }
  return bytes;
}

// Byte i is 7 i mod 251: no two rows alike for small sizes.
inline Bytes ramp(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(7 * i % 251);
  return bytes;
}

inline Bytes image_file(std::uint32_t count, std::uint32_t rows, std::uint32_t columns) {
  return words({0x803, count, rows, columns}) + ramp(std::size_t{count} * rows * columns);
}

// Label i is i mod classes.
inline Bytes label_file(std::uint32_t count, std::uint32_t classes = 10) {
  Bytes bytes = words({0x801, count});
  for (std::uint32_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(i % classes));
  return bytes;
}

// One gzip member.
inline Bytes gzip(const Bytes& content) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
            Z_OK);
  Bytes packed(deflateBound(&stream, content.size()));
  stream.next_in = const_cast<Bytef*>(content.data());
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline Bytes first(const Bytes& bytes, std::size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

inline Bytes from(const Bytes& bytes, std::size_t begin) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end()};
}

}  // namespace stepscope
