// The files of a report, as --out has them: report.html, report.md, tables/*.csv.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/files/files.h"
#include "bench/report/document.h"

namespace stepscope::cli {

inline constexpr std::string_view kReportForms[] = {"html", "md", "csv"};  // of report's --format

// Names within --out that these forms are sure to write.
std::vector<std::filesystem::path> report_names(const std::vector<std::string>& forms);
// The same of all forms, and record.json before them.
std::vector<std::filesystem::path> output_names();

struct ReportFiles {
  std::vector<FileContent> files;
  std::vector<std::filesystem::path> stale;  // files of an older report that are no more
  std::string without_pictures;              // why a page has none; empty: it has
};

// Of a document, in these forms, for that folder. Writes nothing; runs gnuplot for a page.
// tables/columns.csv says what every column of the tables means.
ReportFiles report_files(const Document& document, const std::vector<std::string>& forms,
                         const std::filesystem::path& folder);

// What is written, on one line: "DIR/report.html, report.md, tables/*.csv (14)".
std::string names_text(const ReportFiles& report, const std::filesystem::path& folder);

// What a new report in this folder would replace or remove: files alone, tables only where their
// columns.csv is that of a report.
std::vector<std::filesystem::path> older_report(const std::filesystem::path& folder);

// All or none of them; then what is stale is removed.
void write_report(const ReportFiles& report);

}  // namespace stepscope::cli
