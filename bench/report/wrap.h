// Prose for a terminal: lines that are not too long, and how wide a text is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace stepscope {

inline constexpr std::size_t kProseWidth = 100;

// Breaks each line of the text at blanks; what follows a break is indented by two more. A word that
// is longer stays whole.
std::string wrapped(std::string_view text);

// In characters, not in bytes: what continues one in UTF-8 takes no place.
bool begins_character(char c);
std::size_t characters_of(std::string_view text);

}  // namespace stepscope
