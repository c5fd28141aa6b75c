// Finding, reading and checking records.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/read_record.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "bench/files/files.h"
#include "bench/measure/validate.h"
#include "bench/record/json.h"
#include "ops/base/check.h"

namespace stepscope::cli {
namespace {

namespace fs = std::filesystem;

// The folders within that hold a record: a few of them, by name.
std::vector<std::string> folders_with_records(const fs::path& folder) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code ignored;
    if (fs::exists(each->path() / kRecordFile, ignored)) found.push_back(each->path().string());
  }
  std::sort(found.begin(), found.end());
  if (found.size() > kMost) {
    found.resize(kMost);
    found.emplace_back("...");
  }
  return found;
}

}  // namespace

fs::path record_path(const std::string& given) {
  if (given == kStandardInput) return "/dev/stdin";
  std::error_code error;
  if (!fs::is_directory(given, error)) return given;
  fs::path path = fs::path(given) / kRecordFile;
  if (fs::exists(path, error)) return path;
  const std::vector<std::string> within = folders_with_records(given);
  fail(Fault::bad_input, "{}: a folder without {}{}", given, kRecordFile,
       within.empty() ? "" : fmt::format("; there is one in {}", fmt::join(within, ", ")));
}

Record read_record(const std::string& given) {
  const fs::path path = record_path(given);
  const std::string source = given == kStandardInput ? "standard input" : path.string();
  Record record = record_from_json(read_file(path), source);
  const std::vector<std::string> wrong = problems(record);
  if (!wrong.empty()) {
    fail(Fault::bad_input, "{}: contradicts itself: {}{}", source, wrong.front(),
         wrong.size() > 1 ? fmt::format(" (and {} more)", wrong.size() - 1) : "");
  }
  return record;
}

}  // namespace stepscope::cli
