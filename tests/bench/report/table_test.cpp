// Tables and the forms they are rendered in.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "bench/report/columns.h"
#include "bench/report/renderers.h"
#include "ops/base/error.h"

namespace stepscope {
namespace {

Table small() {
  Table table("small", "what it says", columns({"arm", "median", "quartiles", "verdict"}));
  table.add(
      {"graph/on", Cell("1.23 us", 1234.5), Cell("1.00 us .. 2.00 us", 1000.0, 2000.25), "FASTER"});
  table.add({"eager/off", "not measured", "", "no ratio: a|b"});
  return table;
}

TEST(Table, AlignsColumnsWithoutTrailingBlanks) {
  EXPECT_EQ(terminal_text(small()),
            "what it says:\n"
            "arm              median           quartiles  verdict\n"
            "---------  ------------  ------------------  -------------\n"
            "graph/on        1.23 us  1.00 us .. 2.00 us  FASTER\n"
            "eager/off  not measured                      no ratio: a|b\n");
}

TEST(Table, WithoutRowsIsShownByNobody) {
  const Table table("small", "what it says", columns({"arm"}));
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(terminal_text(table), "");
}

// What continues a character in UTF-8 takes no place.
TEST(Table, AlignsCharactersNotBytes) {
  Table table("small", "", columns({"model", "batch"}));
  table.add({"größe", "1"});
  table.add({"groesse", "10"});
  EXPECT_EQ(terminal_text(table),
            "model    batch\n-------  -----\ngröße        1\ngroesse     10\n");
}

TEST(Table, NotesStandBelowItAndAreWrapped) {
  Table table = small();
  std::string note;
  for (int i = 0; i < 30; ++i) note += "words ";
  table.notes = {"short", note};
  const std::string text = terminal_text(table);
  EXPECT_NE(text.find("\n  short\n  words words"), std::string::npos) << text;
  EXPECT_NE(text.find("\n    words"), std::string::npos) << text;
}

TEST(Csv, HasAllDigitsAndNothingForWhatIsNotThere) {
  EXPECT_EQ(csv(small()),
            "arm,median (ns),q1 (ns),q3 (ns),verdict\r\n"
            "graph/on,1234.5,1000,2000.25,FASTER\r\n"
            "eager/off,,,,no ratio: a|b\r\n");
}

TEST(Csv, QuotesWhatWouldEndAField) {
  Table table("small", "", columns({"arm", "paid_back"}));
  table.add({"a,b", Cell("120 steps", 120.0)});
  table.add({"say \"no\"", "never"});
  table.add({"two\nlines", "not known: one, two"});
  EXPECT_EQ(csv(table),
            "arm,paid_back (steps)\r\n\"a,b\",120\r\n\"say \"\"no\"\"\",never\r\n"
            "\"two\nlines\",\"not known: one, two\"\r\n");
}

TEST(Csv, ANumberThatIsNoneIsEmpty) {
  Table table("small", "", columns({"arm", "loss"}));
  table.add({"a", Cell("nan", std::nan(""))});
  table.add({"b", Cell("0.1", 0.1)});
  EXPECT_EQ(csv(table), "arm,loss\r\na,\r\nb,0.1\r\n");
}

TEST(Markdown, ATableKeepsItsTextWhateverIsInIt) {
  Table table = small();
  table.add({"*x* `y` <script> a_b _c_ [d](e)", "", "", "one\ntwo"});
  table.notes = {"# no heading", "- no list", "1. no number", "fold_sgd: |"};
  EXPECT_EQ(markdown(table),
            "**what it says**\n\n"
            "| arm | median | quartiles | verdict |\n"
            "| --- | ---: | ---: | --- |\n"
            "| graph/on | 1.23 us | 1.00 us .. 2.00 us | FASTER |\n"
            "| eager/off | not measured |  | no ratio: a\\|b |\n"
            "| \\*x\\* \\`y\\` &lt;script> a_b \\_c\\_ \\[d\\](e) |  |  | one two |\n"
            "\n- \\# no heading\n- \\- no list\n- 1\\. no number\n- fold_sgd: \\|\n");
}

TEST(Table, RefusesWhatIsNoTable) {
  EXPECT_THROW(Table("Small", "", columns({"arm"})), Error);
  EXPECT_THROW(Table("", "", columns({"arm"})), Error);
  EXPECT_THROW(Table("small", "", {}), Error);
  EXPECT_THROW(Table("small", "", {{"key", "title", "", "", Table::Align::left, {}}}), Error);
  Table table("small", "", columns({"arm", "batch"}));
  EXPECT_THROW(table.add({"one cell"}), Error);
  EXPECT_THROW(column("no such column"), Error);
}

TEST(Columns, EachSaysWhatItMeansOnOneLine) {
  std::set<std::string_view> keys;
  for (const std::string_view key : column_keys()) {
    const Table::Column each = column(key);
    EXPECT_TRUE(keys.insert(key).second) << key << " is there twice";
    EXPECT_EQ(key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string::npos) << key;
    EXPECT_FALSE(each.title.empty()) << key;
    EXPECT_GE(each.meaning.size(), 8U) << key;
    EXPECT_EQ(each.meaning.find('\n'), std::string::npos) << key;
    EXPECT_FALSE(each.meaning.ends_with('.')) << key;
    EXPECT_TRUE(each.parts.empty() || each.parts.size() == 2) << key;
  }
  EXPECT_GT(keys.size(), 50U);
}

}  // namespace
}  // namespace stepscope
