// The counter counts, and what it counts has a name.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "tests/alloc/attribution.h"

// Stands in for a kernel of the backend into which Eigen was inlined.
namespace stepscope::eigen {
namespace {
[[gnu::noinline]] std::unique_ptr<int[]> allocate_as_kernel() { return std::make_unique<int[]>(7); }
}  // namespace
}  // namespace stepscope::eigen

namespace stepscope::alloc {
namespace {

[[gnu::noinline]] std::unique_ptr<int[]> allocate_as_own() { return std::make_unique<int[]>(9); }

TEST(AllocCounter, CountsTheWholeFamily) {
  std::vector<void*> blocks(8);
  void* grown = std::malloc(1);
  start();
  blocks[0] = std::malloc(10);
  blocks[1] = std::calloc(2, 10);
  grown = std::realloc(grown, 1000);
  blocks[2] = std::aligned_alloc(64, 128);
  const int refused = ::posix_memalign(&blocks[3], 24, 128);
  const int made = ::posix_memalign(&blocks[4], 64, 128);
  blocks[5] = ::operator new(16);
  blocks[6] = ::operator new (16, std::align_val_t{64});
  std::free(blocks[0]);
  const Count count = stop();
  EXPECT_EQ(count.all_threads, 7U);
  EXPECT_EQ(count.this_thread, 7U);
  EXPECT_EQ(count.frees, 1U);
  EXPECT_EQ(refused, EINVAL);
  EXPECT_EQ(made, 0);
  ASSERT_EQ(count.kept.size(), 7U);
  EXPECT_EQ(count.kept[1].bytes, 20U);
  for (std::size_t i = 1; i < 5; ++i) std::free(blocks[i]);
  std::free(grown);
  ::operator delete(blocks[5]);
  ::operator delete (blocks[6], std::align_val_t{64});
}

TEST(AllocCounter, CountsOnlyWhileSwitchedOn) {
  start();
  EXPECT_EQ(stop().all_threads, 0U);
  const auto outside = allocate_as_own();
  EXPECT_EQ(stop().all_threads, 0U);
}

TEST(AllocCounter, TellsThreadsApart) {
  start();
  std::thread([] { const auto block = allocate_as_own(); }).join();
  const Count count = stop();
  EXPECT_GT(count.all_threads, count.this_thread);  // this thread made the other one
  std::size_t elsewhere = 0;
  for (const Allocation& each : count.kept) elsewhere += each.on_counting_thread ? 0 : 1;
  EXPECT_EQ(elsewhere, count.all_threads - count.this_thread);
}

TEST(Attribution, NamesTheNearestFunction) {
  start();
  const auto own = allocate_as_own();
  const auto kernel = eigen::allocate_as_kernel();
  const Count count = stop();
  ASSERT_EQ(count.kept.size(), 2U);
  const Attribution first = attribute(count.kept[0]);
  EXPECT_EQ(first.owner, Owner::own);
  EXPECT_NE(first.frame.find("stepscope::alloc::(anonymous namespace)::allocate_as_own"),
            std::string::npos)
      << first.frame << "\n"
      << describe(count.kept[0]);
  const Attribution second = attribute(count.kept[1]);
  EXPECT_EQ(second.owner, Owner::library);
  EXPECT_NE(second.frame.find("stepscope::eigen::(anonymous namespace)::allocate_as_kernel"),
            std::string::npos)
      << second.frame << "\n"
      << describe(count.kept[1]);
}

TEST(Attribution, WhatHasNoNameIsOurs) { EXPECT_EQ(attribute({}).owner, Owner::own); }

}  // namespace
}  // namespace stepscope::alloc
