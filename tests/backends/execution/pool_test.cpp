// The block pool: classes that fit, blocks that come back, nothing asked for twice.
// SPDX-License-Identifier: Apache-2.0
#include "backends/execution/pool.h"

#include <gtest/gtest.h>

#include <map>

#include "backends/reference/reference.h"
#include "ops/base/philox.h"

namespace stepscope {
namespace {

// Each size up to a few thousand units, and sizes around each power of two up to 2^44 bytes.
std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t bytes = 1; bytes <= 20'000; ++bytes) all.push_back(bytes);
  for (std::size_t power = 14; power <= 44; ++power) {
    for (std::size_t eighth = 8; eighth < 16; ++eighth) {
      const std::size_t around = (std::size_t{1} << power) / 8 * eighth;
      for (std::size_t bytes = around - 2; bytes <= around + 2; ++bytes) all.push_back(bytes);
    }
  }
  return all;
}

TEST(SizeClass, FitsGrowsAndWastesLittle) {
  for (const std::size_t alignment : {64, 256}) {
    std::size_t before = 0;
    std::uint8_t class_before = 0;
    for (const std::size_t bytes : sizes()) {
      const std::uint8_t of_bytes = size_class(bytes, alignment);
      const std::size_t given = class_bytes(of_bytes, alignment);
      ASSERT_GE(given, bytes);
      ASSERT_EQ(given % alignment, 0U);
      // A quarter of what was asked for, beside the rounding to the alignment.
      const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
      ASSERT_LE(given - rounded, rounded / 4) << bytes;
      if (bytes > before) {
        ASSERT_GE(of_bytes, class_before) << bytes;
        ASSERT_LE(of_bytes - class_before, 1) << bytes << ": a class was left out";
        before = bytes;
        class_before = of_bytes;
      }
      ASSERT_EQ(size_class(given, alignment), of_bytes) << "a full block is of its own class";
    }
  }
}

TEST(SizeClass, OfNothingIsNone) {
  EXPECT_EQ(size_class(0, 64), 0);
  EXPECT_EQ(class_bytes(0, 64), 0U);
}

TEST(BlockPool, GivesDistinctAlignedBlocksAndTakesThemBack) {
  const auto backend = reference::make_backend({});
  BlockPool pool(*backend);
  struct Taken {
    std::uint8_t block_class;
    unsigned char mark;
  };
  std::map<std::byte*, Taken> taken;
  Philox draws(3);
  for (int i = 0; i < 3000; ++i) {
    if (taken.size() < 40 && draws.below(2) == 0) {
      const std::uint8_t block_class = size_class(1 + draws.below(5000), 64);
      std::byte* block = pool.take(block_class);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0U);
      const auto mark = static_cast<unsigned char>(i);
      std::memset(block, mark, class_bytes(block_class, 64));
      ASSERT_TRUE(taken.try_emplace(block, Taken{block_class, mark}).second);
    } else if (!taken.empty()) {
      const auto [block, what] = *taken.begin();
      for (std::size_t b = 0; b < class_bytes(what.block_class, 64); ++b) {
        ASSERT_EQ(block[b], std::byte{what.mark});
      }
      pool.give(block, what.block_class);
      taken.erase(taken.begin());
    }
  }
}

TEST(BlockPool, AsksForNothingOnceItIsWarm) {
  const auto backend = reference::make_backend({});
  BlockPool pool(*backend);
  std::size_t reserved = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<std::byte*, std::uint8_t>> blocks;
    for (std::size_t bytes = 1; bytes < 3000; bytes += 97) {
      const std::uint8_t block_class = size_class(bytes, 64);
      blocks.emplace_back(pool.take(block_class), block_class);
    }
    for (const auto& [block, block_class] : blocks) pool.give(block, block_class);
    if (round == 0) reserved = pool.bytes_reserved();
    EXPECT_EQ(pool.bytes_reserved(), reserved);
    EXPECT_EQ(pool.blocks(), blocks.size());
  }
}

TEST(BlockPool, ShiftsEveryBlock) {
  const auto backend = reference::make_backend({});
  BlockPool pool(*backend, 4);
  for (const std::uint8_t block_class : {1, 2, 9}) {
    std::byte* block = pool.take(block_class);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 4U);
    std::memset(block, 1, class_bytes(block_class, 64));  // sanitizers watch the end
  }
}

}  // namespace
}  // namespace stepscope
