// CSV files: rows are as long as the names.
// SPDX-License-Identifier: Apache-2.0
#include "bench/files/csv.h"

#include "tests/fuzz/fuzz.h"

namespace stepscope::fuzz {

void run(std::span<const std::uint8_t> input) {
  accepts([&] {
    const CsvTable table = read_csv(input, "input");
    require(!table.columns.empty(), "no columns");
    require(table.lines.size() == table.rows.size(), "rows without a line");
    for (const auto& row : table.rows) {
      require(row.size() == table.columns.size(), "a row of another length");
    }
  });
}

}  // namespace stepscope::fuzz
