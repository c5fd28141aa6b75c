// Cleaning and escaping.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/html_text.h"

#include <cstddef>
#include <cstdint>

namespace stepscope {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Bytes of the character that begins there; 0 where none does.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Too long for what they say, halves of pairs, beyond the last.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

}  // namespace

std::string clean_line(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const char first = text.front();
    if (first == '\n' || first == '\t' || first == '\r') {
      clean += ' ';
    } else if (length == 0 || (length == 1 && (static_cast<std::uint8_t>(first) < 0x20 ||
                                               static_cast<std::uint8_t>(first) == 0x7F))) {
      clean += kReplacement;
    } else {
      clean += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return clean;
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : clean_line(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string capitalized(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && text[end] >= 'a' && text[end] <= 'z') ++end;
  const std::string_view behind = text.substr(end, 2);
  const bool is_word = end > 0 && (behind.empty() || behind.front() == ' ' ||
                                   ((behind.front() == ',' || behind.front() == ':') &&
                                    behind.size() == 2 && behind.back() == ' '));
  std::string line(text);
  if (is_word) line.front() = static_cast<char>(line.front() - 'a' + 'A');
  return line;
}

}  // namespace stepscope
