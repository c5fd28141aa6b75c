// Filling a table.
// SPDX-License-Identifier: Apache-2.0
#include "bench/report/table.h"

#include <string_view>

#include "ops/base/check.h"

namespace stepscope {
namespace {

bool is_id(std::string_view id) {
  return !id.empty() &&
         id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

}  // namespace

Table::Table(std::string id, std::string title, std::vector<Column> columns)
    : id_(std::move(id)), title_(std::move(title)), columns_(std::move(columns)) {
  check(is_id(id_), Fault::bad_input, "table: '{}' is no id, expected a-z, 0-9 and -", id_);
  check(!columns_.empty(), Fault::bad_input, "table {}: no columns", id_);
  for (const Column& column : columns_) {
    check(!column.key.empty() && !column.title.empty() && !column.meaning.empty(), Fault::bad_input,
          "table {}: column '{}' lacks key, title or meaning", id_, column.key);
  }
}

void Table::add(std::vector<Cell> row) {
  check(row.size() == columns_.size(), Fault::bad_input, "table {}: {} cells for {} columns", id_,
        row.size(), columns_.size());
  rows_.push_back(std::move(row));
}

}  // namespace stepscope
