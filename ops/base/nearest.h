// Names that a user may have meant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace stepscope {

// The name with the fewest edits (insert, delete, replace, swap of neighbours) from `text`; the
// first of equals. Empty when `names` is empty.
std::string nearest(std::string_view text, std::span<const std::string> names);

// "unknown model 'mpl': did you mean 'mlp'? (there are: chain, mlp)", or "(there are none)".
std::string unknown_name(std::string_view kind, std::string_view text,
                         std::span<const std::string> names);

}  // namespace stepscope
