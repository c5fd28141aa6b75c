// Text of others in messages of ours.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/shown.h"

#include <algorithm>

namespace stepscope {

std::string shown(std::string_view text, std::size_t most_bytes) {
  std::size_t end = std::min(text.size(), most_bytes);
  while (end < text.size() && end > 0 && (text[end] & 0xc0) == 0x80) --end;  // no half letters
  std::string result = "'";
  for (const char letter : text.substr(0, end)) {
    const bool control = (letter >= 0 && letter < 0x20) || letter == 0x7f;
    result += control ? '?' : letter;
  }
  if (end < text.size()) result += "...";
  result += '\'';
  return result;
}

}  // namespace stepscope
