// Files that are no records, and flags of `report` that do not fit: one line that names the file,
// the place and what was expected; nothing on standard output and nothing written.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "bench/record/json.h"
#include "tests/bench/cli/run_command.h"
#include "tests/bench/temp_folder.h"

namespace stepscope {
namespace {

using test::CommandResult;
using test::run_stepscope;
using test::TempFolder;

void expect_refused(const CommandResult& result, int status, const std::string& message) {
  EXPECT_EQ(result.status, status) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "stepscope: " + message + "\n");
}

struct WrongRecord {
  std::string name;     // of the test
  std::string content;  // of the file
  std::string message;  // behind the name of the file
};

std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::vector<WrongRecord> wrong_records() {
  const std::string right = to_json(Record{});
  Record twice;
  twice.arms = {{.name = "a"}, {.name = "a"}};
  Record void_one;
  void_one.status = "void";
  const std::string no = ": is no stepscope-record 5: ";
  return {
      {"empty", "",
       no + "parse error at line 1, column 1: syntax error while parsing value - unexpected end of "
            "input; expected '[', '{', or a literal"},
      {"text", "not a record",
       no + "parse error at line 1, column 2: syntax error while parsing "
            "value - invalid literal; last read: 'no'"},
      {"list", "[1, 2]", no + "it has no schema"},
      {"other_json", "{\"benchmarks\": []}", no + "it has no schema"},
      {"schema_of_no_text", "{\"schema\": 4}", no + "it has no schema"},
      {"lab_report", "{\"schema\": \"stepscope-lab 1\"}",
       ": is 'stepscope-lab 1', this program reads 'stepscope-record 5'"},
      {"older_schema", with(right, "record 5", "record 3"),
       ": is 'stepscope-record 3', this program reads 'stepscope-record 5'; measure anew, or "
       "read it with the stepscope that wrote it"},
      {"newer_schema", with(right, "record 5", "record 6"),
       ": is 'stepscope-record 6', this program reads 'stepscope-record 5'; measure anew, or "
       "read it with the stepscope that wrote it"},
      {"schema_of_two_lines", "{\"schema\": \"a\\nb\\u001b[2J\"}",
       ": is 'a?b?[2J', this program reads 'stepscope-record 5'"},
      {"missing_field", with(right, "\"status\"", "\"stratus\""), no + "status is missing"},
      {"other_type", with(right, "\"arms\": []", "\"arms\": 3"), no + "arms wants a list"},
      {"contradiction", to_json(twice),
       ": contradicts itself: arm a: 2 arms have this name (and 1 more)"},
      {"status_without_reason", to_json(void_one),
       ": contradicts itself: status: void, and no reason why"},
  };
}

class WrongRecordFile : public testing::TestWithParam<WrongRecord> {};

TEST_P(WrongRecordFile, IsNamedInOneLineAndNothingIsWritten) {
  const TempFolder folder;
  const std::string file = folder.write("r.json", std::string_view(GetParam().content)).string();
  const std::filesystem::path out = folder.path() / "out";
  expect_refused(run_stepscope({"report", file, "--out", out.string()}), 1,
                 file + GetParam().message);
  EXPECT_FALSE(std::filesystem::exists(out));
  // In a flag it is wrong usage.
  const std::string right =
      folder.write("right.json", std::string_view(to_json(Record{}))).string();
  expect_refused(run_stepscope({"report", right, "--baseline", file}), 2,
                 "--baseline: " + file + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(All, WrongRecordFile, testing::ValuesIn(wrong_records()),
                         [](const auto& each) { return each.param.name; });

TEST(WrongRecords, AFileThatIsNotThere) {
  const TempFolder folder;
  const std::string file = (folder.path() / "none.json").string();
  expect_refused(run_stepscope({"report", file}), 1,
                 file + ": cannot be opened: No such file or directory");
}

TEST(WrongRecords, AFolderWithoutARecord) {
  const TempFolder folder;
  const std::string path = folder.path().string();
  expect_refused(run_stepscope({"report", path}), 1, path + ": a folder without record.json");
  for (const std::string name : {"d", "b", "a", "c"}) {
    folder.write(name + "/record.json", std::string_view("x"));
  }
  expect_refused(run_stepscope({"report", path}), 1,
                 path + ": a folder without record.json; there is one in " + path + "/a, " + path +
                     "/b, " + path + "/c, ...");
  expect_refused(run_stepscope({"compare", "--batch", "1", "--baseline", path}), 2,
                 "--baseline: " + path + ": a folder without record.json; there is one in " + path +
                     "/a, " + path + "/b, " + path + "/c, ...");
}

// All are read before anything is said of the first.
TEST(WrongRecords, TheSecondOfTwo) {
  const TempFolder folder;
  const std::string right =
      folder.write("right.json", std::string_view(to_json(Record{}))).string();
  const std::string wrong = folder.write("wrong.json", std::string_view("{}")).string();
  expect_refused(run_stepscope({"report", right, wrong}), 1,
                 wrong + ": is no stepscope-record 5: it has no schema");
}

TEST(WrongRecords, AnEmptyRecordIsOne) {
  const TempFolder folder;
  const std::string file = folder.write("r.json", std::string_view(to_json(Record{}))).string();
  const CommandResult result =
      run_stepscope({"report", file, "--out", (folder.path() / "out").string()});
  EXPECT_EQ(result.status, 0) << result.err;
}

}  // namespace
}  // namespace stepscope
