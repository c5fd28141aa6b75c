// No code is shared between the instruction sets: the linker keeps one copy of a weak symbol, and
// if it were the AVX-512 one, an older machine would stop at an illegal instruction.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "tests/backends/cpu/weak_symbols.h"

namespace stepscope::eigen {
namespace {

using test::is_harmless;
using test::is_weak;

// The name of a function template or member holds its namespace and those of its arguments: one of
// the instruction set anywhere makes it another name than in the other two.
bool is_apart(std::string_view line, std::string_view isa) {
  return line.find(fmt::format("Eigen_{}::", isa)) != std::string_view::npos ||
         line.find(fmt::format("stepscope::eigen::{}::", isa)) != std::string_view::npos;
}

class Symbols : public testing::TestWithParam<const char*> {};

TEST_P(Symbols, WeakOnesAreOfTheirInstructionSet) {
  const std::string isa = GetParam();
  std::size_t weak = 0;
  for (const std::string& line :
       test::symbols_of(STEPSCOPE_NM, fmt::format("{}{}.txt", STEPSCOPE_OBJECT_LISTS, isa))) {
    if (!is_weak(line)) continue;
    ++weak;
    EXPECT_TRUE(is_apart(line, isa) || is_harmless(line)) << line;
  }
  EXPECT_GT(weak, 5U) << "Eigen's products are templates: some weak symbols must have been read";
}

INSTANTIATE_TEST_SUITE_P(Eigen, Symbols, testing::Values("v2", "v3", "v4"),
                         [](const auto& made) { return std::string(made.param); });

TEST(EigenSymbolLines, AreToldApartByTheirNamespace) {
  EXPECT_FALSE(is_apart("0000000000000000 W std::max<int>(int const&, int const&)", "v3"));
  EXPECT_FALSE(is_apart("0000000000000000 W Eigen_v2::f()", "v3"));
  EXPECT_TRUE(is_apart("0000000000000000 W void std::swap<Eigen_v3::half>(...)", "v3"));
}

}  // namespace
}  // namespace stepscope::eigen
