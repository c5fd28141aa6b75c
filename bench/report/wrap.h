// Prose for a terminal: lines that are not too long.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace stepscope {

inline constexpr std::size_t kProseWidth = 100;

// Breaks each line of the text at blanks; what follows a break is indented by two more. A word that
// is longer stays whole.
std::string wrapped(std::string_view text);

}  // namespace stepscope
