// From a document to files.
// SPDX-License-Identifier: Apache-2.0
#include "bench/cli/report_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>

#include "bench/cli/read_record.h"
#include "bench/files/csv.h"
#include "bench/report/renderers.h"
#include "ops/base/error.h"

namespace stepscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPage = "report.html";
constexpr const char* kMarkdown = "report.md";
constexpr const char* kTables = "tables";
constexpr const char* kColumns = "columns.csv";
constexpr const char* kColumnsTable = "columns";
// Its header, by which a folder is known to hold tables of a report.
constexpr std::string_view kColumnsHeader[] = {"table", "title", "column", "meaning", "unit"};

bool has(const std::vector<std::string>& forms, std::string_view form) {
  return std::find(forms.begin(), forms.end(), form) != forms.end();
}

// Of every column of every table a row: which table, what it means, in which unit.
std::string columns_csv(const Document& document) {
  using Align = Table::Align;
  Table columns(
      kColumnsTable, "What the columns of the tables mean",
      {{"table", "table", "name of the file, without .csv", "", Align::left, {}},
       {"title", "title", "of the table", "", Align::left, {}},
       {"column", "column", "name of the column in that file", "", Align::left, {}},
       {"meaning", "meaning", "of the column", "", Align::left, {}},
       {"unit", "unit", "of its numbers; empty: a ratio, a count or a text", "", Align::left, {}}});
  for (const Section& section : document.sections) {
    for (const Table& table : section.tables) {
      for (const Table::Column& column : table.columns()) {
        const std::vector<std::string> whole = {column.key};
        for (const std::string& name : column.parts.empty() ? whole : column.parts) {
          columns.add({table.id(), table.title(), name, column.meaning, column.unit});
        }
      }
    }
  }
  return csv(columns);
}

// A name that a table of a report may have: nothing else is ever removed.
bool is_table_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

// A file of its own: no link, whatever that names.
bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error));
}

// The tables that the report which lies in this folder says it has; nothing where there is none.
std::optional<std::set<std::string>> tables_before(const fs::path& tables) {
  std::set<std::string> names;
  if (!is_file(tables / kColumns)) return std::nullopt;
  try {
    const CsvTable columns = read_csv(tables / kColumns);
    if (!std::equal(columns.columns.begin(), columns.columns.end(), std::begin(kColumnsHeader),
                    std::end(kColumnsHeader))) {
      return std::nullopt;
    }
    for (const std::vector<std::string>& row : columns.rows) {
      if (is_table_name(row.front()) && row.front() != kColumnsTable) names.insert(row.front());
    }
  } catch (const Error&) {
    return std::nullopt;  // somebody else's file
  }
  return names;
}

fs::path table_file(const fs::path& tables, const std::string& name) {
  return tables / fmt::format("{}.csv", name);
}

void add_tables(ReportFiles& report, const Document& document, const fs::path& folder) {
  const fs::path tables = folder / kTables;
  std::set<std::string> now;
  for (auto& [name, text] : csv(document)) {
    now.insert(fs::path(name).stem().string());
    report.files.push_back({tables / name, std::move(text)});
  }
  report.files.push_back({tables / kColumns, columns_csv(document)});
  for (const std::string& name : tables_before(tables).value_or(std::set<std::string>{})) {
    const fs::path file = table_file(tables, name);
    if (now.count(name) == 0 && is_file(file)) report.stale.push_back(file);
  }
}

}  // namespace

std::vector<fs::path> report_names(const std::vector<std::string>& forms) {
  std::vector<fs::path> names;
  if (has(forms, "html")) names.emplace_back(kPage);
  if (has(forms, "md")) names.emplace_back(kMarkdown);
  if (has(forms, "csv")) names.push_back(fs::path(kTables) / kColumns);
  return names;
}

std::vector<fs::path> output_names() {
  std::vector<fs::path> names = {kRecordFile};
  for (fs::path& name : report_names({std::begin(kReportForms), std::end(kReportForms)})) {
    names.push_back(std::move(name));
  }
  return names;
}

ReportFiles report_files(const Document& document, const std::vector<std::string>& forms,
                         const fs::path& folder) {
  ReportFiles report;
  if (has(forms, "html")) {
    const Gnuplot gnuplot = find_gnuplot();
    if (gnuplot.program.empty()) report.without_pictures = gnuplot.reason;
    report.files.push_back({folder / kPage, html(document, gnuplot)});
  }
  if (has(forms, "md")) report.files.push_back({folder / kMarkdown, markdown(document)});
  if (has(forms, "csv")) add_tables(report, document, folder);
  return report;
}

std::string names_text(const ReportFiles& report, const fs::path& folder) {
  std::vector<std::string> names;
  std::size_t tables = 0;
  for (const FileContent& file : report.files) {
    if (file.path.parent_path().filename() == kTables) {
      ++tables;
    } else {
      names.push_back(file.path.filename().string());
    }
  }
  if (tables > 0) names.push_back(fmt::format("{}/*.csv ({})", kTables, tables));
  const std::string where = (folder / "").string();
  const std::string pictures = report.without_pictures.empty()
                                   ? ""
                                   : fmt::format("; no pictures: {}", report.without_pictures);
  return fmt::format("{}{}{}", where, fmt::join(names, ", "), pictures);
}

std::vector<fs::path> older_report(const fs::path& folder) {
  std::vector<fs::path> files = {folder / kPage, folder / kMarkdown};
  const fs::path tables = folder / kTables;
  if (const auto names = tables_before(tables)) {
    for (const std::string& name : *names) files.push_back(table_file(tables, name));
    files.push_back(tables / kColumns);
  }
  std::erase_if(files, [](const fs::path& file) { return !is_file(file); });
  return files;
}

void write_report(const ReportFiles& report) {
  write_files(report.files);
  std::error_code ignored;
  for (const fs::path& file : report.stale) fs::remove(file, ignored);
}

}  // namespace stepscope::cli
