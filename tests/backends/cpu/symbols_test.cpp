// No code is shared between the instruction sets: the linker keeps one copy of a weak symbol, and
// if it were the AVX-512 one, an older machine would stop at an illegal instruction.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>

#include "tests/backends/cpu/weak_symbols.h"

namespace stepscope::cpu {
namespace {

using test::is_harmless;
using test::is_weak;

class CpuSymbols : public testing::TestWithParam<const char*> {};

TEST_P(CpuSymbols, WeakOnesAreOfTheirInstructionSet) {
  const std::string isa = GetParam();
  const std::string own = fmt::format("stepscope::cpu::{}::", isa);
  std::size_t kernels = 0;
  for (const std::string& line :
       test::symbols_of(STEPSCOPE_NM, fmt::format("{}{}.txt", STEPSCOPE_OBJECT_LISTS, isa))) {
    if (line.find(fmt::format(" T {}", own)) != std::string::npos) ++kernels;
    if (!is_weak(line)) continue;
    EXPECT_TRUE(line.find(own) != std::string::npos || is_harmless(line)) << line;
  }
  EXPECT_GT(kernels, 40U) << "the kernels themselves must have been read";
}

INSTANTIATE_TEST_SUITE_P(Cpu, CpuSymbols, testing::Values("v2", "v3", "v4"),
                         [](const auto& made) { return std::string(made.param); });

TEST(SymbolLines, AreReadAsNmWritesThem) {
  EXPECT_TRUE(is_weak("0000000000000000 W std::max<int>(int const&, int const&)"));
  EXPECT_TRUE(is_weak("0000000000000010 u stepscope::cpu::v3::x()::once"));
  EXPECT_TRUE(is_weak("0000000000000000 V DW.ref.__gxx_personality_v0"));
  EXPECT_FALSE(is_weak("0000000000000000 T stepscope::cpu::v3::Add(...)"));
  EXPECT_FALSE(is_weak("                 U omp_get_max_threads"));
  EXPECT_TRUE(is_harmless("0000000000000000 V DW.ref.__gxx_personality_v0"));
  EXPECT_FALSE(is_harmless("0000000000000000 W std::max<int>(int const&, int const&)"));
}

}  // namespace
}  // namespace stepscope::cpu
