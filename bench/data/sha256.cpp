// SHA-256 after FIPS 180-4; names of the functions and constants as there.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace stepscope {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (4.2.2).
constexpr std::array<std::uint32_t, 64> kRound{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const std::byte* from) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | std::to_integer<std::uint32_t>(from[i]);
  return word;
}

void store_little_endian(std::byte* to, std::uint64_t word, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(word >> (8 * i));
}

// W of 6.2.2, step 1.
std::array<std::uint32_t, 64> schedule(const std::byte* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t t = 0; t < 16; ++t) w[t] = big_endian(block + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t a = w[t - 15];
    const std::uint32_t b = w[t - 2];
    const std::uint32_t sigma0 = std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3;
    const std::uint32_t sigma1 = std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10;
    w[t] = sigma1 + w[t - 7] + sigma0 + w[t - 16];
  }
  return w;
}

}  // namespace

std::string to_hex(const Digest& digest) { return fmt::format("{:02x}", fmt::join(digest, "")); }

void Sha256::compress(const std::byte* block) {
  const std::array<std::uint32_t, 64> w = schedule(block);
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t choose = (e & f) ^ (~e & g);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    const std::uint32_t t1 = h + sum1 + choose + kRound[t] + w[t];
    const std::uint32_t t2 = sum0 + majority;
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> mixed{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state_.size(); ++i) state_[i] += mixed[i];
}

void Sha256::update(std::span<const std::byte> bytes) {
  const std::size_t held = bytes_ % kBlock;
  bytes_ += bytes.size();
  if (held != 0) {
    const std::size_t taken = std::min(kBlock - held, bytes.size());
    std::copy_n(bytes.begin(), taken, pending_.begin() + held);
    bytes = bytes.subspan(taken);
    if (held + taken < kBlock) return;
    compress(pending_.data());
  }
  for (; bytes.size() >= kBlock; bytes = bytes.subspan(kBlock)) compress(bytes.data());
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
}

void Sha256::update(std::span<const std::uint32_t> words) {
  std::array<std::byte, kBlock> block;
  while (!words.empty()) {
    const std::size_t taken = std::min(words.size(), kBlock / sizeof(std::uint32_t));
    for (std::size_t i = 0; i < taken; ++i) store_little_endian(&block[4 * i], words[i], 4);
    update(std::span<const std::byte>(block.data(), 4 * taken));
    words = words.subspan(taken);
  }
}

void Sha256::update(std::span<const std::int32_t> words) {
  // The same object as unsigned: aliasing between signed and unsigned is allowed.
  update(std::span(reinterpret_cast<const std::uint32_t*>(words.data()), words.size()));
}

void Sha256::update(std::uint64_t word) {
  std::array<std::byte, 8> bytes;
  store_little_endian(bytes.data(), word, bytes.size());
  update(std::span<const std::byte>(bytes));
}

Digest Sha256::finish() {
  // 5.1.1: a one bit, zeros, and the length in bits as 64 bits, big-endian, to end a block.
  const std::uint64_t bits = bytes_ * 8;
  const std::size_t held = bytes_ % kBlock;
  const std::size_t padding = (held < kBlock - 8 ? kBlock : 2 * kBlock) - held;
  std::array<std::byte, 2 * kBlock> tail{std::byte{0x80}};
  for (std::size_t i = 0; i < 8; ++i) {
    tail[padding - 1 - i] = static_cast<std::byte>(bits >> (8 * i));
  }
  update(std::span<const std::byte>(tail.data(), padding));

  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

void Sha256::update_text(std::string_view text) {
  update(std::uint64_t{text.size()});
  update(std::as_bytes(std::span(text)));
}

std::string sha256_of(std::string_view text) {
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  return to_hex(hash.finish());
}

}  // namespace stepscope
