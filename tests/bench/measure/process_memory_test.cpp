// Resident memory as the system tells it.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/process_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

ProcessMemory read_from(const std::string& status) {
  const test::TempFolder folder;
  return process_memory(folder.write("status", std::string_view(status)).string());
}

TEST(ProcessMemory, R_MEM_5_ReadsResidentMemoryAndItsPeak) {
  const ProcessMemory memory =
      read_from("Name:\ttest\nVmPeak:\t  9000 kB\nVmHWM:\t    3000 kB\nVmRSS:\t    2000 kB\n");
  EXPECT_EQ(memory.peak_rss, 3000U * 1024);
  EXPECT_EQ(memory.rss, 2000U * 1024);
}

TEST(ProcessMemory, R_MEM_5_WhatIsNotToldIsEmpty) {
  EXPECT_FALSE(read_from("VmRSS:\t unknown kB\n").rss);
  EXPECT_FALSE(read_from("VmRSS:\t 12 pages\n").rss);
  EXPECT_FALSE(read_from("").peak_rss);
  EXPECT_FALSE(process_memory("/no/such/file").rss);
}

TEST(ProcessMemory, R_MEM_5_SeesWhatThisProcessTouches) {
  const ProcessMemory before = process_memory();
  ASSERT_TRUE(before.rss && before.peak_rss);
  constexpr std::size_t kBytes = 64U << 20;
  {
    std::vector<char> block(kBytes);
    std::memset(block.data(), 1, block.size());
    EXPECT_GT(process_memory().rss.value(), kBytes);
  }
  EXPECT_GE(process_memory().peak_rss.value(), *before.rss + kBytes / 2);
}

}  // namespace
}  // namespace stepscope
