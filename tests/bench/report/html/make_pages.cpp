// Writes reports for a browser to look at, and tells of each how many pictures it must have:
// make_pages FOLDER; of files of records, when some are named: make_pages FOLDER RECORD...
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <vector>

#include "bench/record/json.h"
#include "bench/report/renderers.h"
#include "tests/bench/report/full_record.h"
#include "tests/bench/report/html/sample_document.h"
#include "tests/bench/report/records.h"

namespace {

using stepscope::Document;
using stepscope::Gnuplot;
using stepscope::Record;
using namespace stepscope::test;  // NOLINT: samples

// Of a line: file, pictures, figures that say why there is none.
void write(const std::filesystem::path& folder, const std::string& name, const Document& document,
           const Gnuplot& gnuplot) {
  std::size_t pictures = 0, missing = 0;
  for (const auto& section : document.sections) {
    for (const auto& group : section.figures) {
      for (const auto& figure : group.figures) ++(figure.missing.empty() ? pictures : missing);
    }
  }
  std::ofstream(folder / name) << html(document, gnuplot);
  fmt::print("{} {} {}\n", name, gnuplot.program.empty() ? 0 : pictures, missing);
}

void write_records(const std::filesystem::path& folder, const std::vector<std::string>& files,
                   const Gnuplot& gnuplot) {
  std::vector<Record> records;
  for (const std::string& file : files) {
    std::stringstream text;
    text << std::ifstream(file).rdbuf();
    records.push_back(stepscope::record_from_json(text.str(), file));
    write(folder, std::filesystem::path(file).stem().string() + ".html",
          document_of(std::span(&records.back(), 1)), gnuplot);
  }
  write(folder, "all.html", document_of(records), gnuplot);
}

void write_samples(const std::filesystem::path& folder, const Gnuplot& gnuplot) {
  const Gnuplot none{.program = "", .version = "", .reason = "gnuplot is not installed"};
  write(folder, "sample.html", sample_document(), gnuplot);
  write(folder, "hostile.html", hostile_document(), gnuplot);
  write(folder, "no-gnuplot.html", sample_document(), none);
  std::vector<Record> records = {full()};
  write(folder, "compared.html", document_of(records), gnuplot);
  records = {trained()};
  write(folder, "trained.html", document_of(records), gnuplot);
  records = {full(), decided("eigen"), planned_only()};
  records[1].work.model = "small_cnn";
  write(folder, "several.html", document_of(records), gnuplot);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: make_pages FOLDER [RECORD...]\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const Gnuplot gnuplot = stepscope::find_gnuplot();
  if (gnuplot.program.empty()) fmt::print(stderr, "no pictures: {}\n", gnuplot.reason);
  if (argc > 2) {
    write_records(folder, {argv + 2, argv + argc}, gnuplot);
  } else {
    write_samples(folder, gnuplot);
  }
  return 0;
}
