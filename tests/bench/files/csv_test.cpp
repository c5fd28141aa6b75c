// CSV: what RFC 4180 allows, and the line that is named where something else stands.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/csv.h"

#include <gtest/gtest.h>

#include "tests/bench/files/bytes.h"
#include "tests/bench/temp_folder.h"
#include "tests/support/errors.h"

namespace stepscope {
namespace {

using test::bytes_from;
using test::error_of;
using Rows = std::vector<std::vector<std::string>>;

CsvTable parse(std::string_view text) { return read_csv(bytes_from(text), "t.csv"); }
std::string refusal(std::string_view text) {
  return error_of([&] { parse(text); });
}

TEST(Csv, ReadsPlainRows) {
  const CsvTable table = parse("a,b\n1,2\n,\n");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.rows, (Rows{{"1", "2"}, {"", ""}}));
  EXPECT_EQ(table.lines, (std::vector<std::int64_t>{2, 3}));
}

TEST(Csv, LineEndsByteOrderMarkAndTheMissingLastEnd) {
  const CsvTable table = parse(
      "\xef\xbb\xbf"
      "a,b\r\n1,2\r\n3,4");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.rows, (Rows{{"1", "2"}, {"3", "4"}}));
}

TEST(Csv, QuotedFieldsHoldCommasQuotesAndLineEnds) {
  const CsvTable table = parse("a,\"b\"\n\"x,\"\"y\"\"\r\nz\",\"\"\n5,6\n");
  EXPECT_EQ(table.rows, (Rows{{"x,\"y\"\r\nz", ""}, {"5", "6"}}));
  EXPECT_EQ(table.lines, (std::vector<std::int64_t>{2, 4}));
}

TEST(Csv, ColumnsAlone) { EXPECT_EQ(parse("a\n").rows.size(), 0U); }

TEST(Csv, EmptyLinesAtTheEndAreLeftOut) {
  for (const std::string_view end : {"\n\n", "\r\n\r\n", "\n\r\n\n\n"}) {
    EXPECT_EQ(parse("a,b\n1,2" + std::string(end)).rows, (Rows{{"1", "2"}}));
    EXPECT_EQ(parse("a,b" + std::string(end)).rows.size(), 0U);
  }
  EXPECT_EQ(parse("a\n\n1\n\n").rows, (Rows{{""}, {"1"}}));
  EXPECT_EQ(parse("a\n\"\n\n\"\n\n").rows, (Rows{{"\n\n"}}));
}

TEST(Csv, RefusesByLine) {
  EXPECT_EQ(refusal(""), "bad input: t.csv: is empty, expected a row of column names");
  EXPECT_EQ(refusal("a,b\n1,2\n\"\n\",2\n3\n"),
            "bad input: t.csv: line 5: 1 fields, expected 2, as line 1 has");
  EXPECT_EQ(refusal("a,b\n1,2,3\n"),
            "bad input: t.csv: line 2: 3 fields, expected 2, as line 1 has");
  EXPECT_EQ(refusal("a,b\n\n1,2\n"),
            "bad input: t.csv: line 2: 1 fields, expected 2, as line 1 has");
  EXPECT_EQ(refusal("a,b\n1,2\n \n"),
            "bad input: t.csv: line 3: 1 fields, expected 2, as line 1 has");
  EXPECT_EQ(refusal("a,b,a\n"), "bad input: t.csv: line 1: column 'a' stands there twice");
  EXPECT_EQ(refusal("a\n1\n\"2\n3\n"),
            "bad input: t.csv: line 3: a quote is opened here and never closed");
  EXPECT_EQ(refusal("a\nx\"y\"\n"),
            "bad input: t.csv: line 2: a quote inside the field 'x\"y\"'; a field with quotes "
            "stands in quotes, and each inside is written twice");
  EXPECT_EQ(refusal("a\n\"x\"y\n"),
            "bad input: t.csv: line 2: text behind a closing quote, expected a comma or the end of "
            "the line");
  EXPECT_EQ(refusal("a\rb\n"),
            "bad input: t.csv: line 1: a carriage return without a line feed behind it");
  EXPECT_EQ(refusal(std::string_view("a\n\0\n", 4)),
            "bad input: t.csv: a zero byte at byte 2, expected text");
  EXPECT_EQ(refusal(std::string(kMostCsvColumns, ',')),
            "bad input: t.csv: line 1: more than 4096 fields, more are not read");
}

TEST(Csv, FileByPath) {
  const test::TempFolder folder;
  EXPECT_EQ(read_csv(folder.write("x.csv", std::string_view("a\n1\n"))).rows.size(), 1U);
  const std::string gone = (folder.path() / "gone.csv").string();
  EXPECT_EQ(error_of([&] { read_csv(gone); }),
            "io: " + gone + ": cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace stepscope
