// No code is shared between the instruction sets: the linker keeps one copy of a weak symbol, and
// if it were the AVX-512 one, an older machine would stop at an illegal instruction.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope::eigen {
namespace {

// A line of nm: "0000000000000000 W std::max(...)"; an undefined symbol has blanks for an address.
bool is_weak(std::string_view line) {
  return line.size() > 18 && line[16] == ' ' && line[18] == ' ' &&
         std::string_view("WVu").find(line[17]) != std::string_view::npos;
}

// The name of a function template or member holds its namespace and those of its arguments: one of
// the instruction set anywhere makes it another name than in the other two.
bool is_apart(std::string_view line, std::string_view isa) {
  return line.find(fmt::format("Eigen_{}::", isa)) != std::string_view::npos ||
         line.find(fmt::format("stepscope::eigen::{}::", isa)) != std::string_view::npos;
}

// Weak, shared, and no code that an instruction set could have touched: the address of the
// exception personality routine, and clang's one way to std::terminate().
bool is_harmless(std::string_view line) {
  return line.ends_with(" DW.ref.__gxx_personality_v0") ||
         line.ends_with(" __clang_call_terminate");
}

std::vector<std::string> output_of(const std::string& command) {
  std::vector<std::string> lines;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  char buffer[4096];
  std::string line;
  while (pipe != nullptr && std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr) {
    line += buffer;
    if (line.back() != '\n') continue;
    line.pop_back();
    lines.push_back(std::move(line));
    line.clear();
  }
  return lines;
}

class Symbols : public testing::TestWithParam<const char*> {};

TEST_P(Symbols, WeakOnesAreOfTheirInstructionSet) {
  const std::string isa = GetParam();
  std::ifstream list(fmt::format("{}{}.txt", STEPSCOPE_OBJECT_LISTS, isa));
  std::size_t weak = 0;
  for (std::string object; std::getline(list, object);) {
    for (const std::string& line : output_of(fmt::format("'{}' -C '{}'", STEPSCOPE_NM, object))) {
      if (!is_weak(line)) continue;
      ++weak;
      EXPECT_TRUE(is_apart(line, isa) || is_harmless(line)) << object << ": " << line;
    }
  }
  EXPECT_GT(weak, 5U) << "Eigen's products are templates: some weak symbols must have been read";
}

INSTANTIATE_TEST_SUITE_P(Eigen, Symbols, testing::Values("v2", "v3", "v4"),
                         [](const auto& made) { return std::string(made.param); });

TEST(SymbolLines, AreReadAsNmWritesThem) {
  EXPECT_TRUE(is_weak("0000000000000000 W std::max<int>(int const&, int const&)"));
  EXPECT_TRUE(is_weak("0000000000000010 u Eigen_v3::x()::once"));
  EXPECT_TRUE(is_weak("0000000000000000 V DW.ref.__gxx_personality_v0"));
  EXPECT_FALSE(is_weak("0000000000000000 T stepscope::eigen::v3::MatMul(...)"));
  EXPECT_FALSE(is_weak("                 U omp_get_max_threads"));
  EXPECT_FALSE(is_apart("0000000000000000 W std::max<int>(int const&, int const&)", "v3"));
  EXPECT_FALSE(is_apart("0000000000000000 W Eigen_v2::f()", "v3"));
  EXPECT_TRUE(is_apart("0000000000000000 W void std::swap<Eigen_v3::half>(...)", "v3"));
}

}  // namespace
}  // namespace stepscope::eigen
