// Writes records for schema_test.py into a folder: every field filled, nothing filled, not run, and
// numbers that JSON does not have.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <limits>

#include "bench/files/files.h"
#include "bench/record/json.h"
#include "ops/base/error.h"
#include "tests/bench/record/sample_record.h"

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: sample_records FOLDER\n");
    return 2;
  }
  using namespace stepscope;
  try {
    const std::filesystem::path folder = words[1];
    write_file(folder / "filled.json", to_json(test::filled_record()));
    write_file(folder / "empty.json", to_json(Record{}));
    write_file(folder / "not_run.json", to_json(test::not_run_record()));
    Record record = test::filled_record();
    record.arms.front().flops = std::numeric_limits<double>::quiet_NaN();
    record.pairs.front().ratios.front().per_process = {std::numeric_limits<double>::infinity()};
    write_file(folder / "not_numbers.json", to_json(record));
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
