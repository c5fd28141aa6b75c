// Text of a record made safe for a page: nothing in it is markup, whatever it says.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace stepscope {

// Valid UTF-8 in one line: what is not UTF-8 becomes U+FFFD, so do control characters; line breaks
// and tabs become blanks.
std::string clean_line(std::string_view text);

// clean_line() with & < > " ' as character references: fit for an element's text and for a quoted
// attribute.
std::string escaped(std::string_view text);

// With a capital at the beginning of a first word that is one: "paid once: ..."; as it is where
// what stands there is a name ("mlp:784", "eigen/graph").
std::string capitalized(std::string_view text);

}  // namespace stepscope
