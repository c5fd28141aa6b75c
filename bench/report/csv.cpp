// Tables as CSV by RFC 4180: every number with all its digits, in the unit of its column.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "bench/report/renderers.h"

namespace stepscope {
namespace {

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + "\"";
}

std::string line(const std::vector<std::string>& fields) {
  return fmt::format("{}\r\n", fmt::join(fields, ","));
}

std::string header(const std::string& key, const std::string& unit) {
  return field(unit.empty() ? key : fmt::format("{} ({})", key, unit));
}

std::string number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

// A column of numbers has no text: where there is no number, there is nothing.
void add_fields(std::vector<std::string>& fields, const Table::Column& column, const Cell& cell) {
  if (!column.parts.empty()) {
    fields.push_back(number(cell.value));
    fields.push_back(number(cell.second));
  } else if (cell.value) {
    fields.push_back(number(cell.value));
  } else {
    fields.push_back(column.align == Table::Align::left ? field(cell.text) : "");
  }
}

}  // namespace

std::string csv(const Table& table) {
  std::vector<std::string> headers;
  for (const Table::Column& column : table.columns()) {
    if (column.parts.empty()) headers.push_back(header(column.key, column.unit));
    for (const std::string& part : column.parts) headers.push_back(header(part, column.unit));
  }
  std::string text = line(headers);
  for (const auto& row : table.rows()) {
    std::vector<std::string> fields;
    for (std::size_t i = 0; i < row.size(); ++i) add_fields(fields, table.columns()[i], row[i]);
    text += line(fields);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> csv(const Document& document) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) {
      files.emplace_back(fmt::format("{}.csv", table.id()), csv(table));
    }
  }
  return files;
}

}  // namespace stepscope
