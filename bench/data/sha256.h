// SHA-256, for the hash of the work: anybody can check it with sha256sum or hashlib.
// No defence against timing: it hashes public data.
//
// Source: FIPS 180-4; its vectors are checked in tests/bench/data/sha256_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stepscope {

using Digest = std::array<std::uint8_t, 32>;

// Lower-case hexadecimal, 64 characters, as sha256sum prints it.
std::string to_hex(const Digest& digest);

class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);
  void update(std::span<const std::uint8_t> bytes) { update(std::as_bytes(bytes)); }
  // Integers go in as little-endian bytes on every machine.
  void update(std::span<const std::uint32_t> words);
  void update(std::span<const std::int32_t> words);
  void update(std::uint64_t word);

  // A text behind its length, so that two texts in a row are no other two.
  void update_text(std::string_view text);

  // Of all that went in. Ends the object's use.
  Digest finish();

 private:
  static constexpr std::size_t kBlock = 64;  // bytes

  void compress(const std::byte* block);

  // The first 32 bits of the fractional parts of the square roots of the first 8 primes.
  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlock> pending_{};  // an unfinished block
  std::uint64_t bytes_ = 0;                  // that went in
};

// Of a text alone, without its length, in hexadecimal.
std::string sha256_of(std::string_view text);

}  // namespace stepscope
