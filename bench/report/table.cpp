// Laying out a table.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/table.h"

#include <fmt/format.h>

#include <algorithm>

namespace stepscope {

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = columns_[i].title.size();
    for (const auto& row : rows_) width = std::max(width, row[i].size());
    widths.push_back(width);
  }
  std::string text;
  const auto add_line = [&](const auto& cell) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const bool left = columns_[i].align == Align::left;
      line += left ? fmt::format("{:<{}}", cell(i), widths[i])
                   : fmt::format("{:>{}}", cell(i), widths[i]);
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](std::size_t i) { return columns_[i].title; });
  add_line([&](std::size_t i) { return std::string(widths[i], '-'); });
  for (const auto& row : rows_) add_line([&](std::size_t i) { return row[i]; });
  return text;
}

}  // namespace stepscope
