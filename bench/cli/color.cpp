// Colour by the codes of ECMA-48, which every terminal knows.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/color.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>

namespace stepscope::cli {
namespace {

struct ColoredWord {
  std::string_view word;
  int code;  // of the foreground
};
constexpr ColoredWord kWords[] = {
    {"FASTER", 32}, {"SLOWER", 31}, {"SAME", 36}, {"UNDECIDED", 33}, {"UNEQUAL WORK", 31}};

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The word that begins here and ends where a word does; null: none.
const ColoredWord* word_at(std::string_view text, std::size_t at) {
  if (at > 0 && is_of_word(text[at - 1])) return nullptr;
  for (const ColoredWord& each : kWords) {
    if (!text.substr(at).starts_with(each.word)) continue;
    const std::size_t end = at + each.word.size();
    if (end == text.size() || !is_of_word(text[end])) return &each;
  }
  return nullptr;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string without_controls(std::string_view text, bool keep_lines) {
  std::string made;
  made.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (c == 0xc2 && next >= 0x80 && next < 0xa0) {  // U+0080 to U+009F, in UTF-8
      made += '?';
      ++i;
    } else if ((c < 0x20 && !(keep_lines && c == '\n')) || c == 0x7f) {
      made += '?';
    } else {
      made += text[i];
    }
  }
  return made;
}

}  // namespace

ColorWishes color_wishes() {
  return {.terminal = ::isatty(STDOUT_FILENO) == 1,
          .no_color = variable("NO_COLOR"),
          .term = variable("TERM")};
}

bool has_color(std::string_view when, const ColorWishes& wishes) {
  if (when != "auto") return when == "always";
  return wishes.terminal && wishes.no_color.empty() && wishes.term != "dumb";
}

std::string colored(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size();) {
    const ColoredWord* const word = word_at(text, i);
    if (word == nullptr) {
      made += text[i++];
      continue;
    }
    made += fmt::format("\x1b[{}m{}\x1b[0m", word->code, word->word);
    i += word->word.size();
  }
  return made;
}

std::string printable(std::string_view text) { return without_controls(text, true); }
std::string one_line(std::string_view text) { return without_controls(text, false); }

void print_text(std::string_view text, std::string_view when) {
  const std::string safe = printable(text);
  fmt::print("{}", has_color(when, color_wishes()) ? colored(safe) : safe);
}

}  // namespace stepscope::cli
