// Records of tested commands, each once by its content.
// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cli/keep_records.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "bench/files/files.h"
#include "bench/measure/validate.h"
#include "bench/record/json.h"
#include "ops/base/error.h"

namespace stepscope::test {
namespace {

void keep(const std::string& text, const std::string& command) {
  SCOPED_TRACE(command);
  try {
    const std::vector<std::string> wrong = problems(record_from_json(text, "the record"));
    EXPECT_TRUE(wrong.empty()) << fmt::format("{}", fmt::join(wrong, "\n"));
  } catch (const Error& error) {
    ADD_FAILURE() << error.what();
  }
  const char* const folder = std::getenv("STEPSCOPE_KEPT_RECORDS");
  if (folder == nullptr) return;
  const std::string name = fmt::format("{:016x}.json", std::hash<std::string>{}(text));
  write_file(std::filesystem::path(folder) / name, text);
}

}  // namespace

void keep_records(const std::vector<std::string>& arguments, const std::string& out) {
  const std::string command = fmt::format("{}", fmt::join(arguments, " "));
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    const std::string& value = arguments[i + 1];
    if (arguments[i] == "--json" && value == "-") {
      if (!out.empty()) keep(out, command);
      continue;
    }
    std::filesystem::path path;
    if (arguments[i] == "--json") path = value;
    if (arguments[i] == "--out") path = std::filesystem::path(value) / "record.json";
    std::error_code error;
    if (!path.empty() && std::filesystem::is_regular_file(path, error)) {
      keep(read_file(path), command);
    }
  }
}

}  // namespace stepscope::test
