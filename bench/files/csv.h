// CSV as RFC 4180 has it: a row of names, then rows of as many fields, separated by commas.
//
// Fields may stand in double quotes, and then hold commas, line ends, and quotes written twice.
// Lines end in LF or CRLF, the last one may have no end; empty lines at the end are left out. A
// UTF-8 byte order mark is skipped.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

struct CsvTable {
  std::vector<std::string> columns;            // the first row; each name once
  std::vector<std::vector<std::string>> rows;  // the others, as long as `columns`
  std::vector<std::int64_t> lines;             // of each row: the line it begins on, from 1
};

inline constexpr std::uint64_t kLargestCsvBytes = std::uint64_t{256} << 20;
inline constexpr std::size_t kMostCsvColumns = 4096;

// Throw bad_input, naming the file (`who`) and the line, for an empty file, a row of another
// length, a column named twice, quotes that do not match or stand inside a field, a carriage return
// without a line feed, a zero byte, and more than the limits above. The first throws io when the
// file cannot be read.
CsvTable read_csv(const std::filesystem::path& path);
CsvTable read_csv(std::span<const std::uint8_t> bytes, std::string_view who);

}  // namespace stepscope
