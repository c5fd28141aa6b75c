// One pass over the bytes, field by field.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/csv.h"

#include <algorithm>

#include "bench/files/files.h"
#include "bench/files/shown.h"
#include "ops/base/check.h"

namespace stepscope {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Without the empty lines at its end, as editors and shells leave them.
std::string_view without_last_lines(std::string_view text) {
  while (text.ends_with('\n')) {
    const std::string_view rest = text.substr(0, text.size() - (text.ends_with("\r\n") ? 2 : 1));
    if (!rest.ends_with('\n')) break;
    text = rest;
  }
  return text;
}

class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view who)
      : text_(without_last_lines(text)), who_(who) {
    if (text_.substr(0, kByteOrderMark.size()) == kByteOrderMark) at_ = kByteOrderMark.size();
  }

  bool at_end() const { return at_ == text_.size(); }
  std::int64_t line() const { return line_; }

  // Requires: not at_end().
  std::vector<std::string> row() {
    std::vector<std::string> fields;
    do {
      check(fields.size() < kMostCsvColumns, Fault::bad_input,
            "{}: line {}: more than {} fields, more are not read", who_, line_, kMostCsvColumns);
      fields.push_back(next_is('"') ? quoted_field() : plain_field());
    } while (take(','));
    end_line();
    return fields;
  }

 private:
  bool next_is(char letter) const { return at_ < text_.size() && text_[at_] == letter; }
  bool take(char letter) {
    const bool found = next_is(letter);
    at_ += found ? 1 : 0;
    return found;
  }

  void end_line() {
    if (at_end()) return;
    if (take('\r')) {
      check(next_is('\n'), Fault::bad_input,
            "{}: line {}: a carriage return without a line feed behind it", who_, line_);
    }
    check(take('\n'), Fault::bad_input,
          "{}: line {}: text behind a closing quote, expected a comma or the end of the line", who_,
          line_);
    ++line_;
  }

  std::string plain_field() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    const std::string_view field = text_.substr(at_, end - at_);
    check(
        field.find('"') == std::string_view::npos, Fault::bad_input,
        "{}: line {}: a quote inside the field {}; a field with quotes stands in quotes, and each "
        "inside is written twice",
        who_, line_, shown(field));
    at_ = end;
    return std::string(field);
  }

  std::string quoted_field() {
    const std::int64_t begin = line_;
    std::string field;
    ++at_;
    while (true) {
      const std::size_t quote = text_.find('"', at_);
      check(quote != std::string_view::npos, Fault::bad_input,
            "{}: line {}: a quote is opened here and never closed", who_, begin);
      const std::string_view part = text_.substr(at_, quote - at_);
      line_ += std::count(part.begin(), part.end(), '\n');
      field += part;
      at_ = quote + 1;
      if (!take('"')) return field;
      field += '"';
    }
  }

  std::string_view text_;
  std::string_view who_;
  std::size_t at_ = 0;
  std::int64_t line_ = 1;
};

void check_names(const std::vector<std::string>& columns, std::string_view who) {
  std::vector<std::string> sorted = columns;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  check(twice == sorted.end(), Fault::bad_input, "{}: line 1: column {} stands there twice", who,
        shown(twice == sorted.end() ? "" : *twice));
}

}  // namespace

CsvTable read_csv(const std::filesystem::path& path) {
  return read_csv(read_bytes(path), path.string());
}

CsvTable read_csv(std::span<const std::uint8_t> bytes, std::string_view who) {
  check(bytes.size() <= kLargestCsvBytes, Fault::bad_input,
        "{}: {} bytes, more than the {} that are read as CSV", who, bytes.size(), kLargestCsvBytes);
  check(std::find(bytes.begin(), bytes.end(), 0) == bytes.end(), Fault::bad_input,
        "{}: a zero byte at byte {}, expected text", who,
        std::find(bytes.begin(), bytes.end(), 0) - bytes.begin());
  CsvReader reader({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, who);
  check(!reader.at_end(), Fault::bad_input, "{}: is empty, expected a row of column names", who);
  CsvTable table{.columns = reader.row()};
  check_names(table.columns, who);
  while (!reader.at_end()) {
    const std::int64_t line = reader.line();
    std::vector<std::string> row = reader.row();
    check(row.size() == table.columns.size(), Fault::bad_input,
          "{}: line {}: {} fields, expected {}, as line 1 has", who, line, row.size(),
          table.columns.size());
    table.rows.push_back(std::move(row));
    table.lines.push_back(line);
  }
  return table;
}

}  // namespace stepscope
