// Wrapping lines.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/wrap.h"

#include <algorithm>

namespace stepscope {
namespace {

// Where the line ends: a blank, or npos where all of it fits or nothing can be broken.
std::size_t break_of(std::string_view line, std::size_t indent) {
  if (line.size() <= kProseWidth) return std::string_view::npos;
  const std::size_t last = line.rfind(' ', kProseWidth);
  if (last != std::string_view::npos && last > indent) return last;
  return line.find(' ', std::max(indent, kProseWidth));
}

std::string wrapped_line(std::string_view line) {
  const std::size_t blanks = std::min(line.find_first_not_of(' '), line.size());
  const std::string next(blanks + 2, ' ');
  std::string text;
  std::string rest(line);
  std::size_t indent = blanks;
  for (std::size_t at = break_of(rest, indent); at != std::string::npos;
       at = break_of(rest, indent)) {
    text += rest.substr(0, at) + "\n";
    rest = next + rest.substr(at + 1);
    indent = next.size();
  }
  return text + rest;
}

}  // namespace

std::string wrapped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    result += wrapped_line(text.substr(0, end));
    if (end == std::string_view::npos) break;
    result += '\n';
    text.remove_prefix(end + 1);
  }
  return result;
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

}  // namespace stepscope
