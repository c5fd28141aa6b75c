// shown(text): text out of a file, made fit for a message of one line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace stepscope {

// In single quotes; control characters become '?', and what is longer than `most_bytes` ends in
// "...".
std::string shown(std::string_view text, std::size_t most_bytes = 80);

}  // namespace stepscope
