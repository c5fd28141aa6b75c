// Table: a title, columns that say what they are, and cells that are text and, where they are
// numbers, the number. One table is made once and rendered for a terminal, Markdown, CSV and HTML.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stepscope {

// What is in one place of a table.
struct Cell {
  std::string text;              // as people read it: "12.3 us"; "not measured" where it is
  std::optional<double> value;   // the same in the column's unit, all digits; for CSV. Empty: none
  std::optional<double> second;  // of two numbers in one cell: the other (Column::parts)

  Cell() = default;
  Cell(std::string shown) : text(std::move(shown)) {}  // NOLINT: a text is a cell
  Cell(const char* shown) : text(shown) {}             // NOLINT
  Cell(std::string shown, double number) : text(std::move(shown)), value(number) {}
  Cell(std::string shown, double number, double other)
      : text(std::move(shown)), value(number), second(other) {}
};

class Table {
 public:
  enum class Align : std::uint8_t { left, right };
  struct Column {
    std::string key;             // in CSV, and in an anchor: median, time_ratio
    std::string title;           // "95 % interval"
    std::string meaning;         // one line for people; never empty
    std::string unit;            // of Cell::value: ns, bytes; empty: a ratio, a count or a text
    Align align = Align::right;  // numbers right, texts left
    // Where a cell holds two numbers ("9.90 us .. 10.1 us"): what CSV calls each. Empty: `key`.
    std::vector<std::string> parts;
  };

  // `id`: [a-z0-9-]+, unique in a document: anchor and name of the CSV file. `title` is a line
  // without an end mark; empty: the table stands alone. `columns`: bench/report/columns.h has them.
  // Throws bad_input for another id, and for a column without key, title or meaning.
  Table(std::string id, std::string title, std::vector<Column> columns);

  // Requires: one cell per column. Throws bad_input else.
  void add(std::vector<Cell> row);

  bool empty() const { return rows_.empty(); }
  const std::string& id() const { return id_; }
  const std::string& title() const { return title_; }
  const std::vector<Column>& columns() const { return columns_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }

  std::vector<std::string> notes;  // lines below it

 private:
  std::string id_, title_;
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace stepscope
