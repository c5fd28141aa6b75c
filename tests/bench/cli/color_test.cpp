// What goes to a terminal: verdicts in colour where it is wanted, and nothing that it would obey.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/color.h"

#include <gtest/gtest.h>

namespace stepscope::cli {
namespace {

TEST(Color, OnATerminalAloneAndNotAgainstTheWish) {
  EXPECT_TRUE(has_color("auto", {.terminal = true, .no_color = "", .term = "xterm"}));
  EXPECT_FALSE(has_color("auto", {.terminal = false, .no_color = "", .term = "xterm"}));
  EXPECT_FALSE(has_color("auto", {.terminal = true, .no_color = "1", .term = "xterm"}));
  EXPECT_FALSE(has_color("auto", {.terminal = true, .no_color = "0", .term = "xterm"}));
  EXPECT_FALSE(has_color("auto", {.terminal = true, .no_color = "", .term = "dumb"}));
}

TEST(Color, WhatIsAskedForGoesBeforeTheEnvironment) {
  EXPECT_TRUE(has_color("always", {.terminal = false, .no_color = "1", .term = "dumb"}));
  EXPECT_FALSE(has_color("never", {.terminal = true, .no_color = "", .term = "xterm"}));
}

TEST(Color, OfVerdictsThatStandAsWords) {
  EXPECT_EQ(colored("x  FASTER  y"), "x  \x1b[32mFASTER\x1b[0m  y");
  EXPECT_EQ(colored("SAME"), "\x1b[36mSAME\x1b[0m");
  EXPECT_EQ(colored("UNDECIDED: SLOWER.\n"), "\x1b[33mUNDECIDED\x1b[0m: \x1b[31mSLOWER\x1b[0m.\n");
  EXPECT_EQ(colored("  UNEQUAL WORK before"), "  \x1b[31mUNEQUAL WORK\x1b[0m before");
  for (const char* text : {"SAMENESS", "MYSAME", "SAME_1", "faster", "Slower", ""}) {
    EXPECT_EQ(colored(text), text);
  }
}

// The word is the sign: without the codes the text is what it was.
TEST(Color, AddsNothingButCodes) {
  const std::string text = "eager  FASTER\ngraph  SAME, SLOWER\n";
  std::string made = colored(text);
  for (std::size_t at = made.find('\x1b'); at != std::string::npos; at = made.find('\x1b')) {
    made.erase(at, made.find('m', at) + 1 - at);
  }
  EXPECT_EQ(made, text);
}

TEST(Printable, NothingThatATerminalObeys) {
  EXPECT_EQ(printable("a\nb"), "a\nb");
  EXPECT_EQ(printable("\x1b[2J\r\a\t\x7f"), "?[2J????");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "?31m");  // the same code in one character
  EXPECT_EQ(printable("\xc2\xa0\xe2\x82\xac"), "\xc2\xa0\xe2\x82\xac");  // text stays text
  EXPECT_EQ(printable("cut \xc2"), "cut \xc2");
  EXPECT_EQ(one_line("a\nb"), "a?b");
}

}  // namespace
}  // namespace stepscope::cli
