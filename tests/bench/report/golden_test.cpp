// The report of one full record, in every form but the page: read a difference before committing
// it. The files can be written anew by the program; what a reader must find in them is said here by
// hand, so that a wrong number does not pass with a new file.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string_view>

#include "bench/report/document.h"
#include "bench/report/renderers.h"
#include "bench/report/text.h"
#include "tests/bench/report/full_record.h"
#include "tests/bench/report/records.h"
#include "tests/support/golden.h"

namespace stepscope {
namespace {

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Of test::decided(): graph takes 0.9 (0.896 to 0.904) of eager's 10 us at batch 1.
TEST(ReportGolden, Terminal) {
  const std::string text = compare_text(test::full());
  EXPECT_TRUE(has(test::squeezed(text),
                  "\n 1 eigen/graph/off eigen/eager/off 0.900 0.896 .. 0.904 0.900 10.0 us 9.00 us "
                  "<0.001 FASTER\n"));
  test::expect_golden("report/terminal.txt", text);
}

TEST(ReportGolden, Markdown) {
  const std::string text = markdown(document_of(std::vector{test::full()}));
  EXPECT_TRUE(has(text,
                  "\n| 1 | eigen/graph/off | eigen/eager/off | 0.900 | 0.896 .. 0.904 | 0.900 | "
                  "10.0 us | 9.00 us | <0.001 | FASTER |\n"));
  test::expect_golden("report/report.md", text);
}

TEST(ReportGolden, Csv) {
  std::string files;
  for (const auto& [name, text] : csv(document_of(std::vector{test::full()}))) {
    files += fmt::format("---- {}\n{}", name, text);
  }
  EXPECT_TRUE(has(files,  // RFC 4180: lines end with both
                  "\r\n1,eigen/graph/off,eigen/eager/off,0.9,0.896,0.904,0.9,10000,9000,0.0001,"
                  "FASTER\r\n"));
  test::expect_golden("report/tables.csv.txt", files);
}

TEST(ReportGolden, SeveralRuns) {
  Record other = test::decided();
  other.work.model = "small_cnn";
  const std::string text = markdown(document_of(std::vector{test::full(), other, test::trained()}));
  for (const char* row :
       {"\n| 1 | mlp:784-128-10 | 1 | eigen/graph/off | eigen/eager/off | 0.900 |",
        "\n| 2 | small_cnn | 1 | graph/off | eager/off | 0.900 |"}) {
    EXPECT_TRUE(has(text, row)) << row;
  }
  test::expect_golden("report/several.md", text);
}

}  // namespace
}  // namespace stepscope
