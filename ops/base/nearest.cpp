// Edit distance over short names.
// SPDX-License-Identifier: Apache-2.0
#include "ops/base/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace stepscope {
namespace {

// Optimal string alignment distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view text, std::span<const std::string> names) {
  std::string best;
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const std::string& each : names) {
    const std::size_t edits = distance(text, each);
    if (edits < fewest) {
      fewest = edits;
      best = each;
    }
  }
  return best;
}

std::string unknown_name(std::string_view kind, std::string_view text,
                         std::span<const std::string> names) {
  if (names.empty()) return fmt::format("unknown {} '{}' (there are none)", kind, text);
  return fmt::format("unknown {} '{}': did you mean '{}'? (there are: {})", kind, text,
                     nearest(text, names), fmt::join(names, ", "));
}

}  // namespace stepscope
