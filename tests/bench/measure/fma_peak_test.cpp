// The arithmetic peak: what it says of itself. How high it is no test can say.
// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/fma_peak.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace stepscope {
namespace {

TEST(FmaPeak, TheMedianLiesWithinItsSamples) {
  const FmaPeak peak = measure_fma_peak(std::chrono::milliseconds(5));
  EXPECT_GT(peak.lowest, 0.0);
  EXPECT_LE(peak.lowest, peak.flops_per_second);
  EXPECT_LE(peak.flops_per_second, peak.highest);
}

TEST(FmaPeak, UsesTheWidestVectorsOfTheProcessor) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string flags;
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.starts_with("flags")) flags = line + " ";
  }
  if (flags.empty()) GTEST_SKIP() << "no x86 flags in /proc/cpuinfo";
  const auto has = [&](const std::string& flag) {
    return flags.find(" " + flag + " ") != std::string::npos;
  };
  const std::string expected = has("avx512f")              ? "AVX-512"
                               : has("avx2") && has("fma") ? "AVX2"
                                                           : "128 bit";
  EXPECT_EQ(measure_fma_peak(std::chrono::milliseconds(1)).vectors, expected);
}

}  // namespace
}  // namespace stepscope
