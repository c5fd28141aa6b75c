// Looking for a text in a long text, with a failure that shows what was looked for.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope::test {

inline std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos;
       at += part.size()) {
    ++found;
  }
  return found;
}

inline testing::AssertionResult has(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos)
    return testing::AssertionSuccess() << "has " << part;
  constexpr std::size_t kShown = 4000;
  return testing::AssertionFailure() << "no " << part << "\nin " << text.substr(0, kShown);
}

}  // namespace stepscope::test
