// Text on its way to a terminal: verdicts in colour, and nothing in it that a terminal would obey.
// The word stays the sign; colour only helps to find it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace stepscope::cli {

inline constexpr std::string_view kColors[] = {"auto", "always", "never"};  // of --color

// What the environment says of colour: variables that are not set are empty.
struct ColorWishes {
  bool terminal = false;  // whether standard output is one
  std::string no_color;   // NO_COLOR: set to anything, it means no colour (no-color.org)
  std::string term;       // TERM: dumb knows no colour
};
ColorWishes color_wishes();

// `when` is of kColors. What is asked for on the command line goes before the environment.
bool has_color(std::string_view when, const ColorWishes& wishes);

// FASTER, SLOWER, SAME, UNDECIDED and UNEQUAL WORK, where they stand as words.
std::string colored(std::string_view text);

// Control characters, which may come out of a file of somebody else, are '?'. Line breaks stay.
std::string printable(std::string_view text);
// The same, and on one line.
std::string one_line(std::string_view text);

// To standard output: printable, and coloured as `when` and the environment say.
void print_text(std::string_view text, std::string_view when);

}  // namespace stepscope::cli
