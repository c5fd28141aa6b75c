// Golden files.
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace stepscope::test {

void expect_golden(std::string_view file, std::string_view text) {
  const std::filesystem::path path = std::filesystem::path(STEPSCOPE_GOLDEN_DIR) / file;
  if (std::getenv("STEPSCOPE_WRITE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream stream(path, std::ios::binary);
  ASSERT_TRUE(stream) << "tests/golden/" << file
                      << " is missing; STEPSCOPE_WRITE_GOLDEN=1 writes it";
  const std::string expected((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_EQ(text, expected) << "tests/golden/" << file
                            << " differs; STEPSCOPE_WRITE_GOLDEN=1 rewrites it";
}

}  // namespace stepscope::test
