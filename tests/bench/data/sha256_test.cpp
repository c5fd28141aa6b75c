// SHA-256 against the examples of FIPS 180-4 and of NIST's CAVS, and against its own pieces.
// SPDX-License-Identifier: Apache-2.0
#include "bench/data/sha256.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace stepscope {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string hash_of(std::string_view text) {
  Sha256 hash;
  hash.update(bytes_of(text));
  return to_hex(hash.finish());
}

// https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines/example-values
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
                    "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(hash_of("\xbd"), "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
  EXPECT_EQ(hash_of(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// Zeros of every length around one and two blocks; values of FIPS 180-2's additional vectors.
TEST(Sha256, LengthsAroundABlock) {
  EXPECT_EQ(hash_of(std::string(55, '\0')),
            "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
  EXPECT_EQ(hash_of(std::string(56, '\0')),
            "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
  EXPECT_EQ(hash_of(std::string(57, '\0')),
            "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785");
  EXPECT_EQ(hash_of(std::string(64, '\0')),
            "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
}

TEST(Sha256, PiecesGiveTheHashOfTheWhole) {
  std::string text;
  for (int i = 0; i < 300; ++i) text.push_back(static_cast<char>(i * 31));
  const std::string whole = hash_of(text);
  for (std::size_t piece = 1; piece <= 130; ++piece) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      hash.update(bytes_of(std::string_view(text).substr(at, piece)));
    }
    EXPECT_EQ(to_hex(hash.finish()), whole) << "pieces of " << piece;
  }
}

TEST(Sha256, IntegersAreLittleEndian) {
  std::vector<std::uint32_t> words;
  std::vector<std::int32_t> signed_words;
  std::string text;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::uint32_t word = i * 2654435761U;
    words.push_back(word);
    signed_words.push_back(static_cast<std::int32_t>(word));
    for (int shift = 0; shift < 32; shift += 8) text.push_back(static_cast<char>(word >> shift));
  }
  Sha256 of_words;
  of_words.update(words);
  EXPECT_EQ(to_hex(of_words.finish()), hash_of(text));
  Sha256 of_signed;
  of_signed.update(signed_words);
  EXPECT_EQ(to_hex(of_signed.finish()), hash_of(text));
  Sha256 of_long;
  of_long.update(std::uint64_t{0x0807060504030201});
  EXPECT_EQ(to_hex(of_long.finish()), hash_of("\x01\x02\x03\x04\x05\x06\x07\x08"));
}

}  // namespace
}  // namespace stepscope
