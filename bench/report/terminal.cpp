// Tables for a terminal: aligned by blanks.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "bench/report/renderers.h"
#include "bench/report/wrap.h"

namespace stepscope {
namespace {

std::string aligned(std::string_view text, std::size_t width, Table::Align align) {
  const std::string blanks(width - characters_of(text), ' ');
  return align == Table::Align::left ? fmt::format("{}{}", text, blanks)
                                     : fmt::format("{}{}", blanks, text);
}

}  // namespace

std::string terminal_text(const Table& table) {
  if (table.empty()) return {};
  const std::vector<Table::Column>& columns = table.columns();
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::size_t width = characters_of(columns[i].title);
    for (const auto& row : table.rows()) width = std::max(width, characters_of(row[i].text));
    widths.push_back(width);
  }
  std::string text = table.title().empty() ? "" : wrapped(fmt::format("{}:\n", table.title()));
  const auto add_line = [&](const auto& cell) {
    std::string line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      line += aligned(cell(i), widths[i], columns[i].align) + "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](std::size_t i) -> std::string { return columns[i].title; });
  add_line([&](std::size_t i) { return std::string(widths[i], '-'); });
  for (const auto& row : table.rows()) add_line([&](std::size_t i) { return row[i].text; });
  std::string notes;
  for (const std::string& note : table.notes) notes += fmt::format("  {}\n", note);
  return text + wrapped(notes);
}

}  // namespace stepscope
